import { readFile } from 'node:fs/promises';
import { allocatorPackage, availableAllocator } from '@echodrop/build/allocator';
import { choice, readSettings } from '@echodrop/service/env';
import { stopSignal } from '@echodrop/service/stop-signals';
import { execa } from 'execa';
import { aptInstall } from './apt-install.ts';
import { adviceFor, debianPackages, type ToolName } from './install-advice.ts';

/** A program in PATH, or at an absolute path, under any of its names. */
interface Tool {
  readonly names: readonly [string, ...string[]];
  readonly of: ToolName;
}

const redis: Tool = { names: ['redis-server', 'valkey-server'], of: 'redis' };
const others: readonly Tool[] = [
  // perl starts the media tools (packages/media/src/sandbox/landlock-and-seccomp.pl).
  { names: ['/usr/bin/perl'], of: 'perl' },
  { names: ['ffprobe'], of: 'ffmpeg' },
  { names: ['ffmpeg'], of: 'ffmpeg' },
  // These lock the data folder, and end a service if `npm start` is killed.
  { names: ['flock'], of: 'setpriv' },
  { names: ['setpriv'], of: 'setpriv' },
];

const installSettings = {
  /** With 0, no packages are installed. */
  INSTALL_PACKAGES: choice(['0', '1'], '1'),
};

const installWithinMs = 10 * 60_000;
const osReleaseFiles = ['/etc/os-release', '/usr/lib/os-release'];

/** A program is missing and cannot be installed from here; the message says what to do. */
export class ToolsMissing extends Error {
  override readonly name = 'ToolsMissing';
}

/**
 * Requires perl, ffprobe, ffmpeg, flock, setpriv and, if `withRedis`, a Redis server. As root on Debian and its derivatives, unless INSTALL_PACKAGES is 0, says
 * what it installs and does: what is missing, and the allocator of images, without which services need more memory.
 * @throws ToolsMissing, InvalidSettings
 */
export async function requireSystemTools(
  withRedis: boolean,
  signal: AbortSignal,
  env: NodeJS.ProcessEnv = process.env,
): Promise<void> {
  const { INSTALL_PACKAGES: mayInstall } = readSettings(installSettings, env);
  const wanted = withRedis ? [redis, ...others] : others;
  const missing = await findMissing(wanted);
  const canInstall = mayInstall === '1' && process.getuid?.() === 0 && (await isInstalled('apt-get'));
  if (missing.length > 0 && !canInstall) throw new ToolsMissing(await advice(missing));
  const packages = debianPackages(missing.map((tool) => tool.of));
  if (canInstall && !('LD_PRELOAD' in availableAllocator())) packages.push(allocatorPackage);
  if (packages.length === 0) return;
  process.stdout.write(
    `As root, this installs packages on this machine, once: apt-get install ${packages.join(' ')}\n` +
      'It takes about a minute. Ctrl-C stops it; INSTALL_PACKAGES=0 forbids it.\n',
  );
  const failure = await aptInstall(packages, AbortSignal.any([signal, AbortSignal.timeout(installWithinMs)]));
  if (failure !== undefined && missing.length > 0)
    throw new ToolsMissing(`apt-get could not install ${packages.join(' ')}:\n${failure}`);
  const remaining = await findMissing(wanted);
  if (remaining.length > 0) throw new ToolsMissing(await advice(remaining));
}

/** The name of the Redis server in PATH. */
export async function redisServer(): Promise<string | undefined> {
  for (const name of redis.names) if (await isInstalled(name)) return name;
  return undefined;
}

async function findMissing(wanted: readonly Tool[]): Promise<Tool[]> {
  const found = await Promise.all(wanted.map(({ names }) => Promise.all(names.map(isInstalled))));
  return wanted.filter((_tool, i) => !found[i]?.includes(true));
}

async function isInstalled(name: string): Promise<boolean> {
  const { failed } = await execa('/bin/sh', ['-c', 'command -v "$0"', name], { reject: false });
  return !failed;
}

async function advice(missing: readonly Tool[]): Promise<string> {
  return [
    `not found in PATH: ${missing.map(({ names }) => names.join(' or ')).join(', ')}`,
    ...adviceFor(
      missing.map((tool) => tool.of),
      process.platform,
      await readOsRelease(),
    ),
    ...(missing.includes(redis) ? ['Or, for npm start, set the address of a Redis: REDIS_URL=redis://...'] : []),
  ].join('\n');
}

/** The text of os-release; empty if the system does not say what it is. */
async function readOsRelease(): Promise<string> {
  for (const file of osReleaseFiles) {
    const text = await readFile(file, 'utf8').catch(() => '');
    if (text !== '') return text;
  }
  return '';
}

// As a program, this file prepares a machine for the tests, which start their own Redis servers.
if (import.meta.main) {
  await requireSystemTools(true, stopSignal()).catch((error: Error) => {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  });
}
