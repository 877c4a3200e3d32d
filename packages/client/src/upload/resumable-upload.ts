import type { MediaRecord } from '@echodrop/record';
import { notFromService, RequestRefused } from '../client-errors.ts';
import { type Exchanged, exchange, exchangeMedia, type Uploading } from '../exchange.ts';
import { maxBodyBytes } from '../read-body.ts';
import { readRecord, readRefusal } from '../read-response.ts';
import { idempotencyHeader } from './idempotency-key.ts';
import { PieceSizes } from './piece-sizes.ts';
import { needsForm } from './refused-uploads.ts';

interface Upload extends Uploading {
  readonly content: Blob;
  /** The value of `Upload-Metadata`. */
  readonly metadata: string;
  readonly idempotencyKey: string;
  /** The id of an upload that an earlier process began. */
  readonly resumeId?: string | undefined;
  /** Called with the id of each upload that is created. */
  readonly onResumable?: ((id: string) => void | Promise<void>) | undefined;
}

/** An upload in pieces (tus 1.0.0). Each attempt continues where the service stopped receiving. */
export class ResumableUpload {
  readonly #upload: Upload;
  #id: string | undefined;
  #offset = 0;
  readonly #pieces = new PieceSizes();

  constructor(upload: Upload) {
    this.#upload = upload;
    this.#id = upload.resumeId;
  }

  /** The bytes that the service is known to have. */
  get offset(): number {
    return this.#offset;
  }

  /** Sends what is missing. @returns undefined if the service has no resumable uploads, or a proxy blocks them @throws what an attempt to upload throws */
  async attempt(): Promise<MediaRecord | undefined> {
    if (!(await this.#findOffset()) && !(await this.#create())) return undefined;
    let body: string | undefined;
    while (this.#offset < this.#upload.content.size) {
      body = await this.#sendPiece();
      if (body === undefined) return undefined;
    }
    return readRecord('json', body || (await requireOk(await this.#request('GET', this.#path))));
  }

  get #path(): string {
    return `/files/${this.#id}`;
  }

  /** @returns whether the service has the upload, of these media and texts */
  async #findOffset(): Promise<boolean> {
    if (this.#id === undefined) return false;
    const result = await this.#request('HEAD', this.#path);
    const { response } = result;
    if ([404, 410].includes(response.status)) return false;
    if (response.ok && !this.#isOf(response)) return false;
    // A HEAD response has no body with a reason.
    const hasLostProof = [401, 403].includes(response.status);
    await requireOk(hasLostProof ? await this.#request('GET', this.#path) : result);
    this.#offset = offsetOf(response);
    return true;
  }

  /** Whether an upload has this size and these texts, not those of other media that a program had before. */
  #isOf({ headers }: Response): boolean {
    const { content, metadata } = this.#upload;
    const isSameSize = headers.get('upload-length') === String(content.size);
    return isSameSize && withoutKey(headers.get('upload-metadata') ?? '') === withoutKey(metadata);
  }

  /** @returns whether the service has resumable uploads */
  async #create(): Promise<boolean> {
    const { content, metadata, idempotencyKey, onResumable } = this.#upload;
    const headers = {
      'Upload-Length': String(content.size),
      'Upload-Metadata': metadata,
      'Idempotency-Key': idempotencyHeader(idempotencyKey),
    };
    const result = await this.#request('POST', '/files/', headers);
    const refusal = await refusalIn(result);
    if (refusal && needsForm(refusal)) return false;
    if (refusal) throw refusal;
    // Only the id is used: the address could belong to another server, which must not get the proof.
    const [, id] = /([\w-]+)$/.exec(result.response.headers.get('location') ?? '') ?? [];
    if (!id) throw notFromService('No address of the upload in the response.');
    this.#id = id;
    this.#offset = 0;
    await onResumable?.(id);
    return true;
  }

  /** @returns the body of the response: the record, after the last piece. undefined if a proxy blocks PATCH */
  async #sendPiece(): Promise<string | undefined> {
    const { content, onProgress } = this.#upload;
    const start = this.#offset;
    const piece = content.slice(start, start + this.#pieces.next(start, content.size));
    const result = await exchangeMedia(this.#upload, this.#path, {
      method: 'PATCH',
      headers: {
        'Tus-Resumable': '1.0.0',
        'Upload-Offset': String(start),
        'Content-Type': 'application/offset+octet-stream',
        Prefer: 'return=representation',
      },
      media: { filename: '', content: piece },
      onProgress: onProgress && ((sent) => onProgress(start + sent, content.size)),
    });
    const refusal = await refusalIn(result);
    const effect = refusal && this.#pieces.refuse(refusal);
    if (effect === 'smaller') return '';
    if (effect === 'blocked') return undefined;
    if (refusal) throw refusal;
    this.#offset = offsetOf(result.response);
    this.#pieces.pass();
    if (this.#offset <= start) throw notFromService('The offset of the upload does not advance.');
    return result.body;
  }

  #request(method: 'POST' | 'HEAD' | 'GET', path: string, more: Record<string, string> = {}) {
    const { service, proof, signal, stallMs, fetch: send = fetch } = this.#upload;
    const limited = AbortSignal.any([signal, AbortSignal.timeout(stallMs)]);
    return exchange(signal, maxBodyBytes, async () => {
      const headers = { ...(await proof()), 'Tus-Resumable': '1.0.0', ...more };
      return send(service + path, { method, headers, redirect: 'error', signal: limited });
    });
  }
}

/** Whether the upload has ended, expired or advanced since its offset was found, as when another process sends it too: the next attempt finds out. */
export function isOutdated(error: unknown): boolean {
  return error instanceof RequestRefused && ['offset_conflict', 'not_found', 'upload_expired'].includes(error.reason);
}

/** @returns the body @throws RequestRefused */
async function requireOk(result: Exchanged): Promise<string> {
  const refusal = await refusalIn(result);
  if (refusal) throw refusal;
  return result.body;
}

async function refusalIn({ response, body }: Exchanged): Promise<RequestRefused | undefined> {
  return response.ok ? undefined : readRefusal('json', body, response);
}

function offsetOf({ headers }: Response): number {
  const offset = headers.get('upload-offset') ?? '';
  if (!/^\d{1,15}$/.test(offset)) throw notFromService('No offset of the upload in the response.');
  return Number(offset);
}

/** The value of `Upload-Metadata` for texts (tus 1.0.0, "Creation"). */
export function metadataOf(fields: Readonly<Record<string, string>>): string {
  const encode = (text: string) =>
    btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));
  return Object.entries(fields)
    .map(([name, text]) => `${name} ${encode(text)}`.trim())
    .join(',');
}

/** `Upload-Metadata` without the API key, which the service does not keep. */
function withoutKey(metadata: string): string {
  return metadata
    .split(',')
    .filter((pair) => !pair.startsWith('key '))
    .join(',');
}
