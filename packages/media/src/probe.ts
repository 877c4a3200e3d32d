import { type RangedSource, SourceReader } from './input/source-reader.ts';
import { isPhoto, mediaTypeOf } from './media-type.ts';
import { photoSize } from './photo-size/probe-photo.ts';
import { type MediaLimits, type Probe, probeOfSize, unsupported } from './probe-outcome.ts';
import { videoSize } from './video-layout/probe-video.ts';

export interface ProbeOptions extends MediaLimits {
  /** Where a video is laid out for ffprobe while the look lasts. */
  readonly scratchDir: string;
  /** The caller's deadline. */
  readonly signal: AbortSignal;
}

/**
 * Finds type, width and height of media without reading more of it than it must. Whatever the bytes are, it ends in
 * bounded time and memory. Rejects only where the look itself broke down: a read failed, ffprobe is missing or did not
 * end in time, `signal` was aborted.
 */
export async function probeMedia(source: RangedSource, options: ProbeOptions): Promise<Probe> {
  const type = mediaTypeOf(source.head);
  if (!type) return unsupported('unknown_type');
  if (options.typesOff?.has(type)) return unsupported('type_off');
  const reader = new SourceReader(source, options.signal);
  const size = isPhoto(type) ? await photoSize(reader, type) : await videoSize(reader, type, options.scratchDir);
  return probeOfSize(type, size, options);
}
