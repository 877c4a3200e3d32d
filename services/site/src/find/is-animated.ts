import { buffer } from 'node:stream/consumers';
import { fullRecipe } from '@echodrop/media/recipes';
import { renditionKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import type { PublishedMedia } from './find-media.ts';

// RFC 9649 section 2.7: the flags of the extended header, and the one of them that says that there are frames.
const flagsAt = 20;
const animationFlag = 0x02;

/**
 * Whether a photo may move, which only its whole rendition does. Every GIF is taken to; a WebP says so in the first bytes of that rendition.
 * @throws StoreUnavailable, or the signal's reason
 */
export async function isAnimated(
  { type, mediaKey }: PublishedMedia,
  store: ObjectStore,
  signal: AbortSignal,
): Promise<boolean> {
  if (type === 'gif') return true;
  if (type !== 'webp') return false;
  const range = { offset: 0, length: flagsAt + 1 };
  const reading = await store.read(renditionKey(mediaKey, fullRecipe(type)), { range, signal });
  const head = reading ? await buffer(reading.body) : Buffer.alloc(0);
  return head.toString('latin1', 12, 16) === 'VP8X' && (head.readUInt8(flagsAt) & animationFlag) !== 0;
}
