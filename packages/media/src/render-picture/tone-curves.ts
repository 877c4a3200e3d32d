/** The curves of high dynamic range, tone-mapped to the range of common screens. */

// The luminance of white in high dynamic range, in cd/m2 (ITU-R BT.2408).
const whiteLuminance = 203;

/** The tone-mapped light, 0 to 1, of a PQ value, 0 to 1 (ITU-R BT.2100 table 4). */
export function pqToLight(value: number): number {
  const [m1, m2, c1, c2, c3] = [1305 / 8192, 2523 / 32, 107 / 128, 2413 / 128, 2392 / 128] as const;
  const power = value ** (1 / m2);
  const luminance = 10_000 * (Math.max(0, power - c1) / (c2 - c3 * power)) ** (1 / m1);
  return mapTone(luminance / whiteLuminance, 100);
}

/** The same of an HLG value, for a display of 1000 cd/m2 (ITU-R BT.2100 table 5). */
export function hlgToLight(value: number): number {
  const [a, b, c] = [0.17883277, 0.28466892, 0.55991073] as const;
  const scene = value <= 0.5 ? value ** 2 / 3 : (Math.exp((value - c) / a) + b) / 12;
  return mapTone((1000 * scene ** 1.2) / whiteLuminance, 10);
}

// As in colour-filters.ts: ffmpeg's `mobius`, which keeps what is darker than 0.3 and compresses the rest below 1.
function mapTone(light: number, peak: number): number {
  const knee = 0.3;
  if (light <= knee) return light;
  const a = (-(knee ** 2) * (peak - 1)) / (knee ** 2 - 2 * knee + peak);
  const b = (knee ** 2 - 2 * knee * peak + peak) / (peak - 1);
  return (((b ** 2 + 2 * b * knee + knee ** 2) / (b - a)) * (light + a)) / (light + b);
}
