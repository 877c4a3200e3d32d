import { hostileDocuments } from './hostile-documents.ts';
import { hostilePhotos } from './hostile-photos.ts';
import { polyglots } from './hostile-polyglots.ts';
import { hostileVideoCodings } from './hostile-video-codings.ts';
import { hostileVideoReferences } from './hostile-video-references.ts';
import { hostileVideoStructures } from './hostile-video-structures.ts';

/** What must never be touched, and that hostile media refers to. */
export interface Canary {
  /** The path of a video that is none of the media's business. */
  readonly file: string;
  /** An http address, without a slash at its end. */
  readonly address: string;
}

/** Media as an attacker may send it: its bytes, then as many zeros as `zeros` says. */
export interface HostileMedia {
  readonly name: string;
  /** Why it is refused, or `type width x height` of what it is taken for: what a header cannot show is accepted. */
  readonly found: string;
  readonly make: (canary: Canary) => Buffer | Promise<Buffer>;
  readonly zeros?: number;
}

export const hostileMedia: readonly HostileMedia[] = [
  ...hostileDocuments,
  ...polyglots,
  ...hostilePhotos,
  ...hostileVideoReferences,
  ...hostileVideoCodings,
  ...hostileVideoStructures,
];
