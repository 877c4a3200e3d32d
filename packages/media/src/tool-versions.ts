import { createRequire } from 'node:module';
import sharp from 'sharp';
import type { Tool } from './known-holes.ts';
import { boundedEnd } from './sandbox/bounded-process.ts';
import { startInSandbox, type ToolLimits } from './sandbox/sandbox.ts';
import { collectOutput } from './sandbox/tool-answer.ts';

const limits: ToolLimits = { seconds: 5, cpuSeconds: 3, addressBytes: 1024 ** 3, fileBytes: 0 };

/** The version that each tool reports; undefined if it cannot be run. */
export type ToolVersions = Readonly<Record<Tool, string | undefined>>;

/** Asks each tool for its version. Takes a tenth of a second. */
export async function toolVersions(): Promise<ToolVersions> {
  const [ffprobe, ffmpeg] = await Promise.all([versionOf('ffprobe'), versionOf('ffmpeg')]);
  return { ffprobe, ffmpeg, sharp: sharp.versions.sharp, 'libheif-js': libheifVersion() };
}

// Its code is loaded by the process that draws pictures, and by no other.
function libheifVersion(): string {
  const { version } = createRequire(import.meta.url)('libheif-js/package.json') as { readonly version: string };
  return version;
}

// "ffprobe version 5.1.9-0+deb12u1 Copyright ..."
async function versionOf(tool: 'ffprobe' | 'ffmpeg'): Promise<string | undefined> {
  const child = startInSandbox([tool, '-version'], limits, {});
  const printed = collectOutput(child);
  const bounds = {
    deadlineMs: limits.seconds * 1000,
    mostOutputBytes: 64 * 1024,
    signal: new AbortController().signal,
  };
  const end = await boundedEnd(child, bounds).catch(() => 'failed');
  return end === 'done' ? / version (\S+)/.exec(printed().stdout)?.[1] : undefined;
}
