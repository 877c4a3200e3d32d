import { boxContents, contentAt, handlerType } from '../input/iso-boxes.ts';
import { maxTracks } from './video-codecs.ts';

/** A track of an MP4, QuickTime or 3GP file. */
export interface IsoTrack {
  /** The kind of the track, such as `vide`; undefined if unknown. */
  readonly handler: string | undefined;
  /** The content of its sample descriptions (`stsd`), in the bytes of `moov`; empty if there are none. */
  readonly descriptions: Buffer;
}

/** The tracks in the content of a `moov` box, at most 64. */
export function isoTracks(moov: Buffer): readonly IsoTrack[] {
  return boxContents(moov, 'trak')
    .slice(0, maxTracks)
    .map((trak) => ({
      handler: handlerType(trak),
      descriptions: contentAt(trak, 'mdia', 'minf', 'stbl', 'stsd') ?? Buffer.alloc(0),
    }));
}
