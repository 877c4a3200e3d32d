/** Builds ICC profiles (ICC.1:2022) for pictures that state their colours in another way. LittleCMS converts the pixels. */
import type { ColourCodes } from '../colour-codes.ts';
import { d50, encodeFormula, encodeTable, encodeXyz, readTag, writeProfile } from './icc-format.ts';

/** A chromaticity: CIE 1931 x and y. */
type Chromaticity = readonly [x: number, y: number];

/** The chromaticities of an RGB colour space. */
export interface Primaries {
  readonly white: Chromaticity;
  readonly red: Chromaticity;
  readonly green: Chromaticity;
  readonly blue: Chromaticity;
}

/** How samples become light: `gamma` is the exponent. PQ and HLG (ITU-R BT.2100) are tone-mapped to the range of common screens. */
type Curve = { readonly gamma: number } | 'sRGB' | 'PQ' | 'HLG';

/** The colours that the samples of a picture mean. */
export interface Colours {
  readonly primaries: Primaries;
  readonly curve: Curve;
}

type Triple = readonly [number, number, number];
/** Rows. */
type Matrix = readonly [Triple, Triple, Triple];

const d65: Chromaticity = [0.3127, 0.329];
const illuminantC: Chromaticity = [0.31, 0.316];
const ntsc = { red: [0.63, 0.34], green: [0.31, 0.595], blue: [0.155, 0.07], white: d65 } as const;

export const sRgbPrimaries: Primaries = { red: [0.64, 0.33], green: [0.3, 0.6], blue: [0.15, 0.06], white: d65 };
const bt2020Primaries: Primaries = { red: [0.708, 0.292], green: [0.17, 0.797], blue: [0.131, 0.046], white: d65 };

/** Colour spaces by the numbers of their primaries (ITU-T H.273 table 2). */
const primariesByCode: Readonly<Record<number, Primaries>> = {
  4: { red: [0.67, 0.33], green: [0.21, 0.71], blue: [0.14, 0.08], white: illuminantC },
  5: { red: [0.64, 0.33], green: [0.29, 0.6], blue: [0.15, 0.06], white: d65 },
  6: ntsc,
  7: ntsc,
  9: bt2020Primaries,
  11: { red: [0.68, 0.32], green: [0.265, 0.69], blue: [0.15, 0.06], white: [0.314, 0.351] },
  12: { red: [0.68, 0.32], green: [0.265, 0.69], blue: [0.15, 0.06], white: d65 },
  22: { red: [0.63, 0.34], green: [0.295, 0.605], blue: [0.155, 0.077], white: d65 },
};

/** Curves by the numbers of transfer characteristics (ITU-T H.273 table 3). As in browsers, the curves of cameras (BT.709 and others) are sRGB's. */
const curveByCode: Readonly<Record<number, Curve>> = {
  4: { gamma: 2.2 },
  5: { gamma: 2.8 },
  8: { gamma: 1 },
  16: 'PQ',
  17: { gamma: 2.6 },
  18: 'HLG',
};

/** What numbers mean: sRGB if unknown, and BT.2020 if only a high dynamic range is known. */
export function coloursOfCodes({ primaries, transfer }: ColourCodes): Colours {
  const curve = curveByCode[transfer] ?? 'sRGB';
  const isHdr = curve === 'PQ' || curve === 'HLG';
  const usual = isHdr && primaries !== 1 ? bt2020Primaries : sRgbPrimaries;
  return { primaries: primariesByCode[primaries] ?? usual, curve };
}

/** The ICC profile for RGB or grey samples; undefined if they are sRGB, or if the primaries span no colour space. */
export function createProfile({ primaries, curve }: Colours, samples: 'rgb' | 'grey'): Buffer | undefined {
  if (curve === 'sRGB' && (primaries === sRgbPrimaries || samples === 'grey')) return undefined;
  if (samples === 'rgb') return createRgbProfile(primaries, encodeCurve(curve));
  return writeProfile('GRAY', [
    ['wtpt', encodeXyz(d50)],
    ['kTRC', encodeCurve(curve)],
  ]);
}

/** The RGB profile that shows equal samples as the grey profile `grey` does; undefined if that has no curve. */
export function toRgbProfile(grey: Buffer): Buffer | undefined {
  const curve = grey.toString('latin1', 16, 20) === 'GRAY' ? readTag(grey, 'kTRC') : undefined;
  return curve && createRgbProfile(sRgbPrimaries, curve);
}

function createRgbProfile(primaries: Primaries, curve: Buffer): Buffer | undefined {
  const columns = toProfileColours(primaries);
  if (!columns) return undefined;
  const [red, green, blue] = columns.map(encodeXyz) as [Buffer, Buffer, Buffer];
  return writeProfile('RGB ', [
    ['wtpt', encodeXyz(d50)],
    ['rXYZ', red],
    ['gXYZ', green],
    ['bXYZ', blue],
    ['rTRC', curve],
    ['gTRC', curve],
    ['bTRC', curve],
  ]);
}

// Bradford's adaptation to another white (annex E).
const bradford: Matrix = [
  [0.8951, 0.2664, -0.1614],
  [-0.7502, 1.7135, 0.0367],
  [0.0389, -0.0685, 1.0296],
];

/** The XYZ of the three primaries at full strength, adapted to the white of profiles. */
function toProfileColours({ red, green, blue, white }: Primaries): Matrix | undefined {
  const directions = transpose([toXyz(red), toXyz(green), toXyz(blue)]);
  const strengths = solve(directions, toXyz(white));
  const toBradford = (colour: Triple) => multiply(bradford, colour);
  const from = toBradford(toXyz(white));
  const to = toBradford(d50);
  const adapt = (colour: Triple) => {
    const cones = toBradford(colour).map((cone, n) => (cone * (to[n] ?? 0)) / (from[n] ?? 0));
    return solve(bradford, cones as unknown as Triple);
  };
  const colours = [red, green, blue].map((each, n) => adapt(scale(toXyz(each), strengths[n] ?? 0)));
  return colours.flat().every((value) => Math.abs(value) < 16) ? (colours as unknown as Matrix) : undefined;
}

function toXyz([x, y]: Chromaticity): Triple {
  return [x / y, 1, (1 - x - y) / y];
}

function scale(colour: Triple, factor: number): Triple {
  return [colour[0] * factor, colour[1] * factor, colour[2] * factor];
}

function multiply(matrix: Matrix, [a, b, c]: Triple): Triple {
  return matrix.map((row) => row[0] * a + row[1] * b + row[2] * c) as unknown as Triple;
}

function transpose([a, b, c]: Matrix): Matrix {
  return [
    [a[0], b[0], c[0]],
    [a[1], b[1], c[1]],
    [a[2], b[2], c[2]],
  ];
}

// Cramer's rule. Infinite or not a number if there is no solution.
function solve(matrix: Matrix, right: Triple): Triple {
  const columns = transpose(matrix);
  const all = determinant(columns);
  return [0, 1, 2].map((n) => determinant(columns.with(n, right) as unknown as Matrix) / all) as unknown as Triple;
}

function determinant([a, b, c]: Matrix): number {
  return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
}

function encodeCurve(curve: Curve): Buffer {
  if (curve === 'sRGB') return encodeFormula(3, [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045]);
  if (typeof curve === 'object') return encodeFormula(0, [curve.gamma]);
  return encodeTable(curve === 'PQ' ? pqToLight : hlgToLight);
}

// The luminance of white in high dynamic range, in cd/m2 (ITU-R BT.2408).
const whiteLuminance = 203;

/** The tone-mapped light, 0 to 1, of a PQ value, 0 to 1 (ITU-R BT.2100 table 4). */
function pqToLight(value: number): number {
  const [m1, m2, c1, c2, c3] = [1305 / 8192, 2523 / 32, 107 / 128, 2413 / 128, 2392 / 128] as const;
  const power = value ** (1 / m2);
  const luminance = 10_000 * (Math.max(0, power - c1) / (c2 - c3 * power)) ** (1 / m1);
  return mapTone(luminance / whiteLuminance, 100);
}

/** The tone-mapped light, 0 to 1, of an HLG value, for a display of 1000 cd/m2 (ITU-R BT.2100 table 5). */
function hlgToLight(value: number): number {
  const [a, b, c] = [0.17883277, 0.28466892, 0.55991073] as const;
  const scene = value <= 0.5 ? value ** 2 / 3 : (Math.exp((value - c) / a) + b) / 12;
  return mapTone((1000 * scene ** 1.2) / whiteLuminance, 10);
}

// As in video-layout/colour-filters.ts: ffmpeg's `mobius`, which keeps what is darker than 0.3 and compresses the rest below 1.
function mapTone(light: number, peak: number): number {
  const knee = 0.3;
  if (light <= knee) return light;
  const a = (-(knee ** 2) * (peak - 1)) / (knee ** 2 - 2 * knee + peak);
  const b = (knee ** 2 - 2 * knee * peak + peak) / (peak - 1);
  return (((b ** 2 + 2 * b * knee + knee ** 2) / (b - a)) * (light + a)) / (light + b);
}
