import { tmpdir } from 'node:os';
import { CountedSource } from '@echodrop/testkit/counted-source';
import { patientSignal } from '@echodrop/testkit/patience';
import type { Probe } from './outcomes.ts';
import { probeMedia } from './probe-media.ts';

/** What a probe finds in media. */
export function probed(
  media: CountedSource | Buffer,
  others: Partial<Parameters<typeof probeMedia>[1]> = {},
): Promise<Probe> {
  const source = Buffer.isBuffer(media) ? new CountedSource(media) : media;
  return probeMedia(source, { scratchDir: tmpdir(), maxPixels: 100_000_000, signal: patientSignal(), ...others });
}

/** Its type and size, or the reason of its refusal. */
export function describeProbe(probe: Probe): string {
  return probe.outcome === 'media' ? `${probe.type} ${probe.width}x${probe.height}` : probe.why;
}
