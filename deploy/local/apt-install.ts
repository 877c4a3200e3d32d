import { chmod, rm, writeFile } from 'node:fs/promises';
import { execa } from 'execa';

const policyFile = '/usr/sbin/policy-rc.d';
const policy =
  '#!/bin/sh\n# Echodrop blocks service starts while it installs packages. Delete this file if it remains.\nexit 101\n';

/** Installs Debian packages, as root. Updates the package lists if needed. @returns the output of apt-get if it fails @throws the signal's reason */
export async function aptInstall(packages: readonly string[], signal: AbortSignal): Promise<string | undefined> {
  await using _ = await blockServiceStarts(packages);
  const install = ['install', '-y', '--no-install-recommends', ...packages];
  let output: string | undefined;
  for (const args of [install, ['update'], install]) {
    const { failed, all } = await execa('apt-get', ['-o', 'DPkg::Lock::Timeout=300', ...args], {
      env: { DEBIAN_FRONTEND: 'noninteractive' },
      stdin: 'ignore',
      all: true,
      cancelSignal: signal,
      forceKillAfterDelay: 10_000,
      reject: false,
    });
    if (args === install && !failed) return undefined;
    signal.throwIfAborted();
    output = all;
  }
  return output;
}

/** Until disposed, apt starts no services. Afterwards Debian's Redis does not start with the machine and take the usual port. */
async function blockServiceStarts(packages: readonly string[]): Promise<AsyncDisposable> {
  const hasWritten = await writeFile(policyFile, policy, { flag: 'wx' }).then(
    () => true,
    () => false,
  );
  if (hasWritten) await chmod(policyFile, 0o755);
  return {
    async [Symbol.asyncDispose]() {
      if (hasWritten) await rm(policyFile, { force: true });
      if (!packages.includes('redis-server')) return;
      await execa('systemctl', ['disable', 'redis-server.service'], { reject: false, timeout: 30_000 });
    },
  };
}
