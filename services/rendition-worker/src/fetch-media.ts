import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import type { RenditionRequest } from '@echodrop/contracts/rendition';
import { isPhoto } from '@echodrop/media/detect-media-type';
import { type LocalMedia, videoTracks } from '@echodrop/media/video-layout/ffprobe';
import { mediaObjectKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';

/** Copies media from the store to `path`, and reads the tracks of a video. @throws StoreUnavailable, ToolFailed, the signal's reason, or an Error of the disk */
export async function fetchMedia(
  { mediaKey, type }: RenditionRequest,
  path: string,
  store: ObjectStore,
  signal: AbortSignal,
): Promise<LocalMedia> {
  const object = await store.read(mediaObjectKey(mediaKey), { signal });
  if (object === undefined) throw new Error('media not found in object store');
  await pipeline(object.body, createWriteStream(path), { signal });
  return isPhoto(type) ? { path, type } : { path, type, tracks: await videoTracks(path, type, signal) };
}
