import type { ColourCodes } from '../colour-codes.ts';
import type { ContainerColours } from './container-colours.ts';

/** What a track says about its colours, in ffprobe's notation (`Track`). */
interface StatedColours {
  readonly matrix: string;
  readonly primaries: string;
  readonly transfer: string;
  readonly range: string;
}

interface ColouredTrack extends StatedColours {
  readonly pixelFormat: string;
  readonly height: number;
}

/** The colours of a video track, in ffmpeg's notation. All are known. */
export interface VideoColours {
  /** Matrix coefficients; `gbr` if there is none. */
  readonly matrix: string;
  readonly primaries: string;
  /** Transfer characteristics. */
  readonly transfer: string;
  /** `tv` (limited) or `pc` (full). */
  readonly range: 'tv' | 'pc';
}

/** The colours of common screens. */
export const screenColours = { matrix: 'bt709', primaries: 'bt709', transfer: 'bt709', range: 'tv' } as const;

// The numbers of ITU-T H.273 with the names of ffmpeg, for those that browsers know.
const primariesCodes: ReadonlyMap<string, number> = new Map([
  ['bt709', 1],
  ['bt470m', 4],
  ['bt470bg', 5],
  ['smpte170m', 6],
  ['smpte240m', 7],
  ['bt2020', 9],
  ['smpte431', 11],
  ['smpte432', 12],
]);
const transferCodes: ReadonlyMap<string, number> = new Map([
  ['bt709', 1],
  ['bt470m', 4],
  ['bt470bg', 5],
  ['smpte170m', 6],
  ['smpte240m', 7],
  ['linear', 8],
  ['iec61966-2-1', 13],
  ['bt2020-10', 14],
  ['bt2020-12', 15],
  ['smpte2084', 16],
  ['arib-std-b67', 18],
]);
const matrixCodes: ReadonlyMap<string, number> = new Map([
  ['bt709', 1],
  ['fcc', 4],
  ['bt470bg', 5],
  ['smpte170m', 6],
  ['smpte240m', 7],
  ['ycgco', 8],
  ['bt2020nc', 9],
  ['bt2020c', 10],
  ['ictcp', 14],
]);

// The matrix of videos without one, by their primaries.
const matrixOfPrimaries: ReadonlyMap<string, string> = new Map([
  ['bt709', 'bt709'],
  ['bt470bg', 'bt470bg'],
  ['smpte170m', 'smpte170m'],
  ['bt2020', 'bt2020nc'],
]);
const minHdLines = 720;

/**
 * The colours of a track. What it does not state is assumed as browsers do: the matrix of BT.709 from 720 lines, else that of
 * BT.601. A high dynamic range has BT.2020 unless stated otherwise.
 */
export function coloursOf(track: ColouredTrack): VideoColours {
  const { pixelFormat } = track;
  const primaries = primariesCodes.has(track.primaries) ? track.primaries : undefined;
  const usualPrimaries = isHighDynamicRange(track) ? 'bt2020' : 'bt709';
  const isRgb = /rgb|bgr|gbr|pal8|mono/.test(pixelFormat);
  const isFullRange = track.range === 'pc' || (track.range !== 'tv' && /^(yuvj|gray|ya)/.test(pixelFormat));
  return {
    matrix: isRgb ? 'gbr' : matrixOf(track, primaries),
    primaries: primaries ?? usualPrimaries,
    transfer: transferCodes.has(track.transfer) ? track.transfer : 'bt709',
    range: isRgb || isFullRange ? 'pc' : 'tv',
  };
}

function matrixOf(track: ColouredTrack, primaries: string | undefined): string {
  if (matrixCodes.has(track.matrix)) return track.matrix;
  if (!primaries && isHighDynamicRange(track)) return 'bt2020nc';
  return matrixOfPrimaries.get(primaries ?? '') ?? (track.height >= minHdLines ? 'bt709' : 'smpte170m');
}

/**
 * The colours of a track, or those of its container if it states none of a kind. The decoder of HEVC reports `tv` also for a track without
 * a range, so a container with the full range counts more.
 */
export function withContainerColours(
  track: StatedColours & { readonly codec: string },
  container: ContainerColours | undefined,
): StatedColours {
  if (!container) return track;
  const isUnstated = track.range !== 'tv' && track.range !== 'pc';
  const orElse = (name: string, codes: ReadonlyMap<string, number>, code: number) =>
    codes.has(name) ? name : ([...codes].find(([, each]) => each === code)?.[0] ?? name);
  return {
    matrix: orElse(track.matrix, matrixCodes, container.matrix),
    primaries: orElse(track.primaries, primariesCodes, container.primaries),
    transfer: orElse(track.transfer, transferCodes, container.transfer),
    range: container.isFullRange && (isUnstated || track.codec === 'hevc') ? 'pc' : track.range,
  };
}

/** Whether a track is PQ or HLG (ITU-R BT.2100). */
export function isHighDynamicRange({ transfer }: Pick<StatedColours, 'transfer'>): boolean {
  return transfer === 'smpte2084' || transfer === 'arib-std-b67';
}

/** The numbers of ITU-T H.273. */
export function toColourCodes({ primaries, transfer }: VideoColours): ColourCodes {
  return { primaries: primariesCodes.get(primaries) ?? 2, transfer: transferCodes.get(transfer) ?? 2 };
}
