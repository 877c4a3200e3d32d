import { createRequire } from 'node:module';
import type { Log } from '@echodrop/service/log';
import sharp from 'sharp';
import type { MediaType } from './media-type.ts';
import { runTool } from './sandbox/run-tool.ts';
import type { ToolLimits } from './sandbox/sandbox.ts';

const limits: ToolLimits = { seconds: 5, cpuSeconds: 3, addressBytes: 1024 ** 3, fileBytes: 0 };

/** The version of each media tool; undefined if it cannot run. */
export type ToolVersions = Readonly<Record<'ffprobe' | 'ffmpeg' | 'sharp' | 'libheif-js', string | undefined>>;

/** Reads the versions of the media tools on this machine. Takes a tenth of a second. */
export async function toolVersions(): Promise<ToolVersions> {
  const [ffprobe, ffmpeg] = await Promise.all([versionOf('ffprobe'), versionOf('ffmpeg')]);
  // Only the process that makes pictures loads its code.
  const libheif = createRequire(import.meta.url)('libheif-js/package.json') as { readonly version: string };
  return { ffprobe, ffmpeg, sharp: sharp.versions.sharp, 'libheif-js': libheif.version };
}

/** Logs the versions, tools that cannot run, and the types that are turned off. */
export function logTools(log: Log, versions: ToolVersions, typesOff: ReadonlySet<MediaType>): void {
  log.info({ tools: versions }, 'Media tool versions');
  for (const [tool, version] of Object.entries(versions)) {
    if (version === undefined) log.warn({ tool }, 'Media tool cannot run; media that needs it will fail');
  }
  if (typesOff.size > 0) log.info(`MEDIA_TYPES_OFF turns off ${[...typesOff].join(', ')}`);
}

// "ffprobe version 5.1.9-0+deb12u1 Copyright ..."
async function versionOf(tool: 'ffprobe' | 'ffmpeg'): Promise<string | undefined> {
  const options = { signal: new AbortController().signal };
  const run = await runTool([tool, '-version'], limits, options).catch(() => undefined);
  return run?.end === 'done' ? / version (\S+)/.exec(run.stdout)?.[1] : undefined;
}
