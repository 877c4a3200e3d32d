import { hostileDocuments } from './hostile-documents.ts';
import { hostilePhotos } from './hostile-photos.ts';
import { polyglots } from './hostile-polyglots.ts';
import type { HostileMedia } from './hostile-sample.ts';
import { hostileVideoCodings } from './hostile-video-codings.ts';
import { hostileVideoReferences } from './hostile-video-references.ts';
import { hostileVideoStructures } from './hostile-video-structures.ts';

export const hostileMedia: readonly HostileMedia[] = [
  ...hostileDocuments,
  ...polyglots,
  ...hostilePhotos,
  ...hostileVideoReferences,
  ...hostileVideoCodings,
  ...hostileVideoStructures,
];
