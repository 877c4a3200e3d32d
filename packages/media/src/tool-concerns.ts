import { holesOf, numbersOf, type Tool } from './known-holes.ts';
import type { MediaType } from './media-type.ts';
import type { ToolVersions } from './tool-versions.ts';

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

/**
 * What a worker logs at its start, each thing once: which known holes the tools have by their versions, and which types are turned off.
 */
export function toolConcerns(
  { ffprobe, ffmpeg, sharp, 'libheif-js': libheif }: ToolVersions,
  typesOff: ReadonlySet<MediaType>,
): readonly ToolConcern[] {
  const ofOnePackage = ffprobe === ffmpeg;
  return [
    ...concernsOf(ofOnePackage ? ['ffprobe', 'ffmpeg'] : ['ffprobe'], ffprobe),
    ...(ofOnePackage ? [] : concernsOf(['ffmpeg'], ffmpeg)),
    ...concernsOf(['sharp'], sharp),
    ...concernsOf(['libheif-js'], libheif),
    ...(typesOff.size === 0 ? [] : [turnedOff(typesOff)]),
  ];
}

function turnedOff(types: ReadonlySet<MediaType>): ToolConcern {
  return { level: 'info', sentence: `MEDIA_TYPES_OFF turns off ${[...types].join(', ')}` };
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
