import type { ColourCodes } from '../colour-codes.ts';
import type { Track } from './ffprobe.ts';

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
const matrices = ['bt709', 'fcc', 'bt470bg', 'smpte170m', 'smpte240m', 'ycgco', 'bt2020nc', 'bt2020c'];

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
export function coloursOf(track: Track): VideoColours {
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

function matrixOf(track: Track, primaries: string | undefined): string {
  if (matrices.includes(track.matrix)) return track.matrix;
  if (!primaries && isHighDynamicRange(track)) return 'bt2020nc';
  return matrixOfPrimaries.get(primaries ?? '') ?? (track.height >= minHdLines ? 'bt709' : 'smpte170m');
}

/** Whether a track is PQ or HLG (ITU-R BT.2100). */
export function isHighDynamicRange({ transfer }: Track): boolean {
  return transfer === 'smpte2084' || transfer === 'arib-std-b67';
}

/** The numbers of ITU-T H.273. */
export function toColourCodes({ primaries, transfer }: VideoColours): ColourCodes {
  return { primaries: primariesCodes.get(primaries) ?? 2, transfer: transferCodes.get(transfer) ?? 2 };
}
