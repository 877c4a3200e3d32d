import { text } from 'node:stream/consumers';
import sharp from 'sharp';
import { boundedEnd } from './bounded-process.ts';

import { holesOf, numbersOf, type Tool } from './known-holes.ts';
import { startWithinLimits, type ToolLimits, toolNamespaces } from './within-limits.ts';

/** Something about this machine's tools that whoever runs the service should know; `sentence` says what, and what stands before it. */
export interface ToolConcern {
  readonly sentence: string;
  readonly tools?: readonly Tool[];
  readonly version?: string;
  /** The known hole, by its number in the CVE list where it has one. */
  readonly hole?: string;
}

const limits: ToolLimits = { seconds: 5, cpuSeconds: 3, addressBytes: 1024 ** 3, fileBytes: 0 };

/**
 * What is to be said at a worker's start, each thing once: whether the tools can be kept apart from the rest of the machine, and which known
 * holes they have by the versions that they tell. Takes a tenth of a second.
 */
export async function toolConcerns(): Promise<readonly ToolConcern[]> {
  const [ffprobe, ffmpeg] = await Promise.all([versionOf('ffprobe'), versionOf('ffmpeg')]);
  const ofOnePackage = ffprobe === ffmpeg;
  return [
    ...((await toolNamespaces()) === 'private' ? [] : [notApart]),
    ...concernsOf(ofOnePackage ? ['ffprobe', 'ffmpeg'] : ['ffprobe'], ffprobe),
    ...(ofOnePackage ? [] : concernsOf(['ffmpeg'], ffmpeg)),
    ...concernsOf(['sharp'], sharp.versions.sharp),
  ];
}

const notApart: ToolConcern = {
  sentence:
    'this machine allows no namespaces of their own (unshare --user --net --pid): ffprobe and ffmpeg run within their limits, but in the network and among the processes of this service',
};

function concernsOf(tools: readonly [Tool, ...Tool[]], version: string | undefined): readonly ToolConcern[] {
  const named = tools.join(' and ');
  if (version === undefined) return [{ sentence: `${named} cannot be run: what needs it will fail`, tools }];
  if (!numbersOf(version)) {
    return [{ sentence: `${named} ${version}: no number to be compared with the known holes`, tools, version }];
  }
  return holesOf(tools[0], version).map(({ id, what, guard, fixedIn }) => ({
    sentence: `${named} ${version}: ${what} (${id}, fixed in ${fixedIn.join(', ')}), unless the packagers have mended it; ${guard}`,
    tools,
    version,
    hole: id,
  }));
}

// "ffprobe version 5.1.9-0+deb12u1 Copyright ..."
async function versionOf(tool: 'ffprobe' | 'ffmpeg'): Promise<string | undefined> {
  const child = startWithinLimits([tool, '-version'], limits, await toolNamespaces());
  const printed = child.stdout ? text(child.stdout).catch(() => '') : '';
  const bounds = {
    deadlineMs: limits.seconds * 1000,
    mostOutputBytes: 64 * 1024,
    signal: new AbortController().signal,
  };
  const end = await boundedEnd(child, bounds).catch(() => 'failed');
  return end === 'done' ? / version (\S+)/.exec(await printed)?.[1] : undefined;
}
