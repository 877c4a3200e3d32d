import { chmod, rm, writeFile } from 'node:fs/promises';
import { execa } from 'execa';

const policyFile = '/usr/sbin/policy-rc.d';

/**
 * Installs Debian packages, as root; gives what apt-get said when it could not, else undefined. The package lists are fetched only
 * where the install does not work with those that are there: on a fresh machine there are none.
 * @throws the signal's reason
 */
export async function aptInstall(packages: readonly string[], signal: AbortSignal): Promise<string | undefined> {
  await using _ = await withoutServices(packages);
  const wait = ['-o', 'DPkg::Lock::Timeout=300'];
  const apt = (...args: string[]) =>
    execa('apt-get', [...wait, ...args], {
      env: { DEBIAN_FRONTEND: 'noninteractive' },
      stdin: 'ignore',
      all: true,
      cancelSignal: signal,
      forceKillAfterDelay: 10_000,
      reject: false,
    });
  const installing = ['install', '-y', '--no-install-recommends', ...packages];
  if (!(await apt(...installing)).failed) return undefined;
  signal.throwIfAborted();
  await apt('update');
  signal.throwIfAborted();
  const { failed, all } = await apt(...installing);
  signal.throwIfAborted();
  return failed ? all : undefined;
}

/**
 * Until disposed of, nothing that apt installs is started by it, and afterwards nothing that it brought starts with the machine:
 * the Redis of a system is its own process, and Debian's would take Redis' usual port.
 */
async function withoutServices(packages: readonly string[]): Promise<AsyncDisposable> {
  const script =
    '#!/bin/sh\n# Echodrop is installing packages whose services are not to start. Left behind? Remove it.\nexit 101\n';
  const ours = await writeFile(policyFile, script, { flag: 'wx' }).then(
    () => true,
    () => false,
  );
  if (ours) await chmod(policyFile, 0o755);
  return {
    async [Symbol.asyncDispose]() {
      if (ours) await rm(policyFile, { force: true });
      if (!packages.includes('redis-server')) return;
      await execa('systemctl', ['disable', 'redis-server.service'], { reject: false, timeout: 30_000 });
    },
  };
}
