import { type RangedSource, SourceReader } from './input/source-reader.ts';
import { detectMediaType, isPhoto } from './media-type.ts';
import { type MediaLimits, type Probe, toProbe, unsupported } from './outcomes.ts';
import { photoSize } from './photo-size/probe-photo.ts';
import { videoSize } from './video-layout/probe-video.ts';

export interface ProbeOptions extends MediaLimits {
  /** For the sparse copy of a video. */
  readonly scratchDir: string;
  readonly signal: AbortSignal;
}

/**
 * Finds type, width and height of media with few reads, in bounded time and memory.
 * @throws if a read failed, ffprobe is missing or passed its deadline, or `signal` aborted
 */
export async function probeMedia(source: RangedSource, options: ProbeOptions): Promise<Probe> {
  const type = detectMediaType(source.head);
  if (!type) return unsupported('unknown_type');
  if (options.typesOff?.has(type)) return unsupported('type_off');
  const reader = new SourceReader(source, options.signal);
  const size = isPhoto(type) ? await photoSize(reader, type) : await videoSize(reader, type, options.scratchDir);
  return toProbe(type, size, options);
}
