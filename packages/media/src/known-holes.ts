/** The outside programs and libraries that look at foreign bytes. */
export type Tool = 'ffprobe' | 'ffmpeg' | 'sharp' | 'libheif-js';

interface KnownHole {
  readonly id: string;
  readonly tools: readonly Tool[];
  /** Of each release line that is still kept, the first release without the hole; lines in between have it. */
  readonly fixedIn: readonly string[];
  readonly what: string;
  /** What stands before it here. */
  readonly guard: string;
  /** Whether that holds as it is, with nothing for anybody to do. */
  readonly isKeptOut: boolean;
}

/** Holes that a file could come through (docs/dependencies.md). One row for each that becomes known. */
const knownHoles: readonly KnownHole[] = [
  {
    id: 'CVE-2026-8461',
    tools: ['ffprobe', 'ffmpeg'],
    fixedIn: ['5.1.10', '6.1.6', '7.1.5', '8.1.2'],
    what: "a hole in ffmpeg's MagicYUV decoder",
    guard: 'that decoder is not on the list of codecs that may be used, and so is kept out',
    isKeptOut: true,
  },
  {
    id: 'the remote code execution in libheif that sharp 0.35.4 fixed',
    tools: ['sharp'],
    fixedIn: ['0.35.4'],
    what: 'a hole in the reader of HEIC and AVIF',
    guard: 'nothing but MEDIA_TYPES_OFF=avif,heic stands before it: install a newer sharp',
    isKeptOut: false,
  },
  {
    id: 'the heap overflows and the disclosure of memory that libheif 1.23.3 to 1.23.5 mended',
    tools: ['libheif-js'],
    fixedIn: ['1.23.5'],
    what: 'holes in the reader of HEIC',
    guard:
      'it runs in WebAssembly in a process of its own, without network or secrets, so they reach that one picture; MEDIA_TYPES_OFF=heic turns it off',
    isKeptOut: true,
  },
];

/**
 * The known holes of a tool by the version that it tells (`5.1.9-0+deb12u1`); what follows the numbers does not count, so one that a
 * distribution has mended under the old number is named too. None for a version that is not told in numbers.
 */
export function holesOf(tool: Tool, version: string): readonly KnownHole[] {
  const numbers = numbersOf(version);
  if (!numbers) return [];
  return knownHoles.filter(
    (hole) => hole.tools.includes(tool) && !hole.fixedIn.some((fixed) => fixes(numbers, fixed, hole)),
  );
}

type Numbers = readonly [major: number, minor: number, patch: number];

/** The numbers that a version begins with, `7.1.2` or `n8.1`; undefined for a build that has none (`N-120424-g...`). */
export function numbersOf(version: string): Numbers | undefined {
  const [all, major, minor, patch = '0'] = /^n?(\d+)\.(\d+)(?:\.(\d+))?/.exec(version) ?? [];
  return all === undefined ? undefined : [Number(major), Number(minor), Number(patch)];
}

function fixes(version: Numbers, fixed: string, { fixedIn }: KnownHole): boolean {
  const [major, minor, patch] = numbersOf(fixed) ?? version;
  if (version[0] === major && version[1] === minor) return version[2] >= patch;
  const newest = fixed === fixedIn.at(-1);
  return newest && (version[0] > major || (version[0] === major && version[1] > minor));
}
