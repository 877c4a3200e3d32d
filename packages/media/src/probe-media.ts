import { detectMediaType, isPhoto, type PhotoType } from './detect-media-type.ts';
import { type RangedSource, SourceReader } from './input/source-reader.ts';
import {
  type MediaLimits,
  type Probe,
  type ReadSize,
  toProbe,
  type UnsupportedReason,
  unsupported,
} from './outcomes.ts';
import { bmpSize } from './photo-size/bmp-size.ts';
import { gifSize } from './photo-size/gif-size.ts';
import { heifSize } from './photo-size/heif-size.ts';
import { jpegSize } from './photo-size/jpeg-header.ts';
import { pngSize } from './photo-size/png-size.ts';
import { tiffSize } from './photo-size/tiff-size.ts';
import { webpSize } from './photo-size/webp-size.ts';
import { probeVideo } from './video-layout/read-video.ts';

interface ProbeOptions extends MediaLimits {
  /** The folder for the sparse copy of a video. */
  readonly scratchDir: string;
  readonly signal: AbortSignal;
}

/**
 * Readers of the displayed size of a photo's first frame or page. Not sharp, which needs the whole file (webp, avif, heic,
 * tiff), unpacks every text before the pixels (png: gigabytes for a megabyte), returns another size than browsers (gif),
 * cannot read it (bmp), or takes a hundred times as long and parses untrusted bytes in native code of this process (jpg).
 * Tests compare them with sharp.
 */
const sizeReaders: Record<PhotoType, (reader: SourceReader) => Promise<ReadSize | UnsupportedReason>> = {
  jpg: jpegSize,
  png: pngSize,
  gif: gifSize,
  webp: webpSize,
  avif: (reader) => heifSize(reader, 'avif'),
  heic: (reader) => heifSize(reader, 'heic'),
  tiff: tiffSize,
  bmp: bmpSize,
};

/**
 * Finds type, width and height of media with few reads, in bounded time and memory.
 * @throws if a read failed, ffprobe is missing or passed its deadline, or `signal` aborted
 */
export async function probeMedia(source: RangedSource, options: ProbeOptions): Promise<Probe> {
  const type = detectMediaType(source.head);
  if (!type) return unsupported('unknown_type');
  if (options.typesOff?.has(type)) return unsupported('type_off');
  const reader = new SourceReader(source, options.signal);
  const size = isPhoto(type) ? await sizeReaders[type](reader) : await probeVideo(reader, type, options.scratchDir);
  return toProbe(type, size, options);
}
