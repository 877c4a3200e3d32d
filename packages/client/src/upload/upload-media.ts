import type { MediaRecord } from '@echodrop/record';
import { checkAddress } from '../client-errors.ts';
import { exchangeMedia, type Uploading } from '../exchange.ts';
import type { OpenMedia } from '../platform/platform.ts';
import { type Format, readRecord, readRefusal } from '../read-response.ts';
import { type OnRetry, withRetries } from '../retry.ts';
import { idempotencyHeader } from './idempotency-key.ts';
import { resumableBytes } from './piece-sizes.ts';
import { isTemporaryFailure, mayPassInPieces, noteDoubt } from './refused-uploads.ts';
import { isOutdated, metadataOf, ResumableUpload } from './resumable-upload.ts';

interface Upload extends Uploading {
  readonly media: OpenMedia;
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

// A caption can have 64 KiB, but proxies and Node refuse such headers.
const maxMetadataLength = 6 * 1024;

/**
 * Uploads media with retries: as a form, or in pieces if it is large, the connection of an attempt broke, or a proxy refused the form.
 * @throws what the last attempt throws, or the signal's reason
 */
export async function uploadMedia(upload: Upload): Promise<MediaRecord> {
  const { idempotencyKey: key, resumeId, signal, onRetry } = upload;
  const { content } = upload.media;
  const isRepeatable = content instanceof Blob;
  const size = isRepeatable ? content.size : 0;
  let resumable = resumableOf(upload);
  let isResuming = resumeId !== undefined || size > resumableBytes;
  let refusedForm: unknown;
  let offset = 0;
  let mayBePublished = false;
  const send = async () => {
    const record = isResuming ? await resumable?.attempt() : undefined;
    if (record) return record;
    resumable = isResuming ? undefined : resumable;
    if (refusedForm) throw refusedForm;
    return await sendForm(upload);
  };
  const attempt = async (): Promise<MediaRecord> => {
    try {
      return await send();
    } catch (error) {
      mayBePublished = noteDoubt(error, key, mayBePublished);
      if (isResuming || !mayPassInPieces(error, size)) throw error;
      isResuming = true;
      if (!resumable || isTemporaryFailure(error)) throw error;
      // The same form would be refused again.
      refusedForm = error;
      return attempt();
    }
  };
  const hasAdvanced = () => {
    const before = offset;
    offset = Math.max(before, resumable?.offset ?? 0);
    return offset > before;
  };
  const retries = isRepeatable ? upload.retries : 0;
  const isTemporary = (error: unknown) =>
    isTemporaryFailure(error) || (isResuming && resumable !== undefined && isOutdated(error));
  return withRetries(attempt, { retries, signal, onRetry, hasAdvanced, isTemporary });
}

async function sendForm(upload: Upload): Promise<MediaRecord> {
  const { fields, version, format, idempotencyKey, media, onProgress } = upload;
  const { response, body } = await exchangeMedia(upload, `/${version}/upload.${format}`, {
    method: 'POST',
    headers: { 'Idempotency-Key': idempotencyHeader(idempotencyKey) },
    fields,
    media,
    onProgress,
  });
  if (response.status === 200) return readRecord(format, body);
  const refusal = await readRefusal(format, body, response);
  // The service knows no other path.
  if (refusal.reason === 'not_found') refusal.message += ` ${checkAddress}`;
  throw refusal;
}

/** undefined if only a form can carry the upload. Resumable uploads have the headers of version 2 and responses in JSON. */
function resumableOf(upload: Upload): ResumableUpload | undefined {
  const { media, fields, version, format } = upload;
  const { content, filename } = media;
  if (version !== 2 || format !== 'json' || !(content instanceof Blob)) return undefined;
  const metadata = metadataOf({ ...fields, filename });
  return metadata.length <= maxMetadataLength ? new ResumableUpload({ ...upload, content, metadata }) : undefined;
}
