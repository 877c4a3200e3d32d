import { isMediaKey, mediaObjectKey, newMediaKey, resumablePrefixOf } from '@echodrop/object-store/object-keys';
import { stagedWriteShape } from '@echodrop/object-store/staged-write';
import { isMediaId, maxTextLengths } from '@echodrop/record';
import { z } from 'zod';
import { storedTime } from './stored-time.ts';

/** No state is larger: 10,000 parts take 0.7 MB, and the texts come from headers. */
export const maxStateBytes = 2 * 2 ** 20;

// The largest head of media: 16 KiB in Base64.
const maxHeadLength = 22_000;
// The gateway takes 16 KiB of headers, and pads each value by up to three characters.
const maxMetadataLength = 32 * 1024;
// The gateway takes no other key.
const maxIdempotencyKeyLength = 255;

const stateShape = z.object({
  version: z.literal(1),
  expires: storedTime,
  provider: z.string().max(maxTextLengths.provider),
  subject: z.string().max(maxTextLengths.subject),
  application: z.string().max(maxTextLengths.application),
  message: z.string().max(maxTextLengths.text),
  alt: z.string().max(maxTextLengths.alt).optional(),
  /** `Upload-Metadata`, without API key and secrets. */
  metadata: z
    .string()
    .max(maxMetadataLength)
    .regex(/^[\t\x20-\x7e\xa0-\xff]*$/),
  idempotencyKey: z.string().max(maxIdempotencyKeyLength).optional(),
  /** The length of the upload in bytes; unknown until the client declares it. */
  length: z.int().nonnegative().optional(),
  mediaKey: z.string().refine(isMediaKey),
  /** The first bytes of the media, up to 16 KiB, in Base64. */
  head: z.base64().max(maxHeadLength),
  write: stagedWriteShape,
  /** The id under which the media is published, or may be. */
  mediaId: z.string().refine(isMediaId).optional(),
  isPublished: z.boolean(),
});

/** What is known of a resumable upload, in the object store. */
export type ResumableState = Readonly<Omit<z.infer<typeof stateShape>, 'version'>>;

/** A state is damaged, or of a version that this release does not know. */
export class UnreadableState extends Error {
  override readonly name = 'UnreadableState';

  constructor(id: string, options: ErrorOptions) {
    super(`The state of the resumable upload ${id} is unreadable.`, options);
  }
}

export function encodeState(state: ResumableState): Buffer {
  return Buffer.from(JSON.stringify(stateShape.encode({ version: 1, ...state })));
}

/**
 * Reads the bytes of a state of the upload `id`. A service that was taken over may have written them, and who removes the upload removes
 * the objects that the state names: all belong to this upload. @throws UnreadableState
 */
export function decodeState(bytes: Buffer, id: string): ResumableState {
  try {
    const { version: _, ...state } = stateShape.parse(JSON.parse(bytes.toString()));
    const { key, tails } = state.write;
    const isOwn = key === mediaObjectKey(state.mediaKey) && tails.every((tail) => isTailKey(tail.key, id));
    if (!isOwn) throw new Error('names objects of another upload');
    return state;
  } catch (cause) {
    throw new UnreadableState(id, { cause });
  }
}

/** A new key for the tail of a staged write (`AppendOptions.newTailKey`). */
export function newTailKey(id: string): string {
  return `${tailPrefix(id)}${newMediaKey()}`;
}

function isTailKey(key: string, id: string): boolean {
  return key.startsWith(tailPrefix(id)) && isMediaKey(key.slice(tailPrefix(id).length));
}

function tailPrefix(id: string): string {
  return `${resumablePrefixOf(id)}tail-`;
}
