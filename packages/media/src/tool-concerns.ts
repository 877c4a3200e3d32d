import { createRequire } from 'node:module';
import sharp from 'sharp';
import { boundedEnd } from './bounded-process.ts';
import { holesOf, numbersOf, type Tool } from './known-holes.ts';
import type { MediaType } from './media-type.ts';
import { startInSandbox, type ToolLimits } from './sandbox.ts';
import { collectOutput } from './tool-answer.ts';

/** Something about this machine's tools that whoever runs the service should know; `sentence` says what, and what stands before it. */
export interface ToolConcern {
  /** `warn`: nothing stands before it, or something is missing. */
  readonly level: 'info' | 'warn';
  readonly sentence: string;
  readonly tools?: readonly Tool[];
  readonly version?: string;
  /** The known hole, by its number in the CVE list where it has one. */
  readonly hole?: string;
}

const limits: ToolLimits = { seconds: 5, cpuSeconds: 3, addressBytes: 1024 ** 3, fileBytes: 0 };

/**
 * What is to be said at a worker's start, each thing once: which known holes the tools have by the versions that they tell, and which types are
 * turned off. Takes a tenth of a second.
 */
export async function toolConcerns(typesOff: ReadonlySet<MediaType>): Promise<readonly ToolConcern[]> {
  const [ffprobe, ffmpeg] = await Promise.all([versionOf('ffprobe'), versionOf('ffmpeg')]);
  const ofOnePackage = ffprobe === ffmpeg;
  return [
    ...concernsOf(ofOnePackage ? ['ffprobe', 'ffmpeg'] : ['ffprobe'], ffprobe),
    ...(ofOnePackage ? [] : concernsOf(['ffmpeg'], ffmpeg)),
    ...concernsOf(['sharp'], sharp.versions.sharp),
    ...concernsOf(['libheif-js'], libheifVersion()),
    ...(typesOff.size === 0 ? [] : [turnedOff(typesOff)]),
  ];
}

function turnedOff(types: ReadonlySet<MediaType>): ToolConcern {
  return { level: 'info', sentence: `MEDIA_TYPES_OFF turns off ${[...types].join(', ')}` };
}

// Its code is loaded by the process that draws pictures, and by no other.
function libheifVersion(): string {
  const { version } = createRequire(import.meta.url)('libheif-js/package.json') as { readonly version: string };
  return version;
}

function concernsOf(tools: readonly [Tool, ...Tool[]], version: string | undefined): readonly ToolConcern[] {
  const named = tools.join(' and ');
  if (version === undefined)
    return [{ level: 'warn', sentence: `${named} cannot be run: what needs it will fail`, tools }];
  if (!numbersOf(version)) {
    return [
      { level: 'warn', sentence: `${named} ${version}: no number to be compared with the known holes`, tools, version },
    ];
  }
  return holesOf(tools[0], version).map(({ id, what, guard, isKeptOut, fixedIn }) => ({
    level: isKeptOut ? 'info' : 'warn',
    sentence: `${named} ${version}: ${what} (${id}, fixed in ${fixedIn.join(', ')}), unless the packagers have mended it; ${guard}`,
    tools,
    version,
    hole: id,
  }));
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
