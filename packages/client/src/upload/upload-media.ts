import type { MediaRecord } from '@echodrop/record';
import { noteDoubt, ServiceUnreachable } from '../client-errors.ts';
import { exchange } from '../exchange.ts';
import type { MediaRequest, Platform } from '../platform/platform.ts';
import { maxBodyBytes } from '../read-body.ts';
import { type Format, readRecord, readRefusal } from '../read-response.ts';
import { type OnRetry, withRetries } from '../retry.ts';
import { idempotencyHeader } from './idempotency-key.ts';
import { maxMediaRequestMs, metadataOf, ResumableUpload } from './resumable-upload.ts';

interface Upload extends Pick<MediaRequest, 'media' | 'signal' | 'onProgress' | 'fetch' | 'stallMs'> {
  /** The address of the upload service, without a final slash. */
  readonly service: string;
  readonly send: Platform<unknown>['send'];
  /** The headers that prove the user, new for each request. */
  readonly proof: () => Record<string, string>;
  /** The API key and the texts, and with version 1 the secrets. */
  readonly fields: Readonly<Record<string, string>>;
  readonly version: 1 | 2;
  readonly format: Format;
  readonly idempotencyKey: string;
  readonly retries: number;
  readonly onRetry?: OnRetry | undefined;
  readonly resumeId?: string | undefined;
  readonly onResumable?: ((id: string) => void | Promise<void>) | undefined;
}

const resumableBytes = 32 * 2 ** 20;
// Below this, to send all bytes again costs less than two more requests.
const resumableAfterFailureBytes = 2 ** 20;
// A caption can have 64 KiB, but proxies and Node refuse such headers.
const maxMetadataLength = 6 * 1024;

/**
 * Uploads media with retries: as a form, or in pieces if it is large or the connection of an attempt broke.
 * @throws what the last attempt throws, or the signal's reason
 */
export async function uploadMedia(upload: Upload): Promise<MediaRecord> {
  const { idempotencyKey: key, resumeId, signal, onRetry } = upload;
  const { content } = upload.media;
  const isRepeatable = content instanceof Blob;
  const size = isRepeatable ? content.size : 0;
  let resumable = resumableOf(upload);
  let isResuming = resumeId !== undefined || size > resumableBytes;
  let offset = 0;
  let mayBePublished = false;
  const attempt = async () => {
    try {
      const record = isResuming ? await resumable?.attempt() : undefined;
      if (record) return record;
      resumable = isResuming ? undefined : resumable;
      return await sendForm(upload);
    } catch (error) {
      mayBePublished = noteDoubt(error, key, mayBePublished);
      isResuming ||= error instanceof ServiceUnreachable && size > resumableAfterFailureBytes;
      throw error;
    }
  };
  const hasAdvanced = () => {
    const before = offset;
    offset = Math.max(before, resumable?.offset ?? 0);
    return offset > before;
  };
  const retries = isRepeatable ? upload.retries : 0;
  return withRetries(attempt, { retries, signal, onRetry, hasAdvanced });
}

async function sendForm(upload: Upload): Promise<MediaRecord> {
  const { service, send, proof, fields, version, format, idempotencyKey, media, signal, onProgress, ...rest } = upload;
  const { response, body } = await exchange(signal, maxBodyBytes, () =>
    send(`${service}/${version}/upload.${format}`, {
      method: 'POST',
      headers: { ...proof(), 'Idempotency-Key': idempotencyHeader(idempotencyKey) },
      ...{ fields, media, onProgress, fetch: rest.fetch, stallMs: rest.stallMs },
      signal: AbortSignal.any([signal, AbortSignal.timeout(maxMediaRequestMs)]),
    }),
  );
  if (response.status !== 200) throw await readRefusal(format, body, response);
  return readRecord(format, body);
}

/** undefined if only a form can carry the upload. Resumable uploads have the headers of version 2 and responses in JSON. */
function resumableOf(upload: Upload): ResumableUpload | undefined {
  const { media, fields, version, format } = upload;
  const { content, filename } = media;
  if (version !== 2 || format !== 'json' || !(content instanceof Blob)) return undefined;
  const metadata = metadataOf({ ...fields, filename });
  return metadata.length <= maxMetadataLength ? new ResumableUpload({ ...upload, content, metadata }) : undefined;
}
