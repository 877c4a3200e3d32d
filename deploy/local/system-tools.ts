import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, resolve } from 'node:path';
import { aptInstall } from './apt-install.ts';

/** A program that has to be in PATH, or at an absolute path, under one of its names, and the Debian package that brings it. */
interface Tool {
  readonly names: readonly [string, ...string[]];
  readonly debianPackage: string;
}

const redis: Tool = { names: ['redis-server', 'valkey-server'], debianPackage: 'redis-server' };
const media: readonly Tool[] = [
  // Starts the media tools (packages/media/src/sandbox/sandbox).
  { names: ['/usr/bin/perl'], debianPackage: 'perl-base' },
  { names: ['ffprobe'], debianPackage: 'ffmpeg' },
  { names: ['ffmpeg'], debianPackage: 'ffmpeg' },
];

const installWithinMs = 10 * 60_000;

/** Something is missing that cannot be installed from here; the message says what to do. */
export class ToolsMissing extends Error {
  override readonly name = 'ToolsMissing';
}

/**
 * Makes sure that perl, ffprobe and ffmpeg are in PATH, and a Redis server unless `withRedis` is false; on Debian and its kin, as
 * root, it installs what is missing.
 * @throws ToolsMissing
 */
export async function requireSystemTools(withRedis: boolean, signal: AbortSignal): Promise<void> {
  const wanted = withRedis ? [redis, ...media] : media;
  const missing = await absent(wanted);
  if (missing.length === 0) return;
  if (process.getuid?.() !== 0 || !(await whereIs('apt-get'))) throw new ToolsMissing(advice(missing));
  const packages = packagesOf(missing);
  process.stdout.write(`installing ${packages.join(' and ')} with apt-get, once; this may take a minute\n`);
  const failure = await aptInstall(packages, AbortSignal.any([signal, AbortSignal.timeout(installWithinMs)]));
  if (failure !== undefined) throw new ToolsMissing(`apt-get could not install ${packages.join(' ')}:\n${failure}`);
  const still = await absent(wanted);
  if (still.length > 0) throw new ToolsMissing(advice(still));
}

/** The Redis server that is in PATH. */
export async function redisServer(): Promise<string | undefined> {
  for (const name of redis.names) if (await whereIs(name)) return name;
  return undefined;
}

async function absent(wanted: readonly Tool[]): Promise<Tool[]> {
  const found = await Promise.all(wanted.map(({ names }) => Promise.all(names.map(whereIs))));
  return wanted.filter((_tool, i) => found[i]?.every((path) => path === undefined));
}

function packagesOf(tools: readonly Tool[]): string[] {
  return [...new Set(tools.map(({ debianPackage }) => debianPackage))];
}

async function whereIs(name: string): Promise<string | undefined> {
  for (const directory of (process.env['PATH'] ?? '').split(delimiter)) {
    const path = resolve(directory, name);
    const usable = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (usable) return path;
  }
  return undefined;
}

function advice(missing: readonly Tool[]): string {
  return [
    `not found in PATH: ${missing.map(({ names }) => names.join(' or ')).join(', ')}`,
    `On Debian or Ubuntu: sudo apt-get install ${packagesOf(missing).join(' ')}`,
    ...(missing.includes(redis) ? ['Or, for npm start, name a Redis that runs already: REDIS_URL=redis://...'] : []),
  ].join('\n');
}

// On its own it prepares a machine for the tests, which start and stop Redis servers of their own.
if (import.meta.main) {
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
  await requireSystemTools(true, stop.signal).catch((error: Error) => {
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  });
}
