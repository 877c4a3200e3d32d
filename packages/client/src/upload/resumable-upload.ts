import type { MediaRecord } from '@echodrop/record';
import { isUnsent, notFromService, RequestRefused, refusalOf, ServiceUnreachable } from '../client-errors.ts';
import { exchange } from '../exchange.ts';
import type { MediaRequest, Platform } from '../platform/platform.ts';
import { maxBodyBytes } from '../read-body.ts';
import { readRecord, readRefusal } from '../read-response.ts';
import { idempotencyHeader } from './idempotency-key.ts';
import { PieceSizes } from './piece-sizes.ts';
import { describeLostPiece, needsForm } from './refused-uploads.ts';
import { withoutKey } from './upload-metadata.ts';

interface Upload extends Pick<MediaRequest, 'signal' | 'onProgress' | 'fetch' | 'stallMs'> {
  /** The address of the upload service, without a final slash. */
  readonly service: string;
  readonly send: Platform<unknown>['send'];
  /** The headers that prove the user, new for each request. */
  readonly proof: () => Promise<Record<string, string>>;
  readonly content: Blob;
  /** The value of `Upload-Metadata`. */
  readonly metadata: string;
  readonly idempotencyKey: string;
  /** The id of an upload that an earlier process began. */
  readonly resumeId?: string | undefined;
  /** Called with the id of each upload that is created. */
  readonly onResumable?: ((id: string) => void | Promise<void>) | undefined;
}

/** Each request with media ends after this time, which is also the service's limit. */
export const maxMediaRequestMs = 6 * 3600 * 1000;
// Another process may send the same upload.
const maxTries = 3;

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
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#sendRest();
      } catch (error) {
        if (!isOutdated(error) || tries === maxTries) throw error;
      }
    }
  }

  async #sendRest(): Promise<MediaRecord | undefined> {
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
    if (refusal && needsForm(refusalOf(refusal))) return false;
    if (refusal) throw refusal;
    // Only the id: the address could belong to another server, which must not get the proof.
    const [, id] = /([\w-]+)$/.exec(result.response.headers.get('location') ?? '') ?? [];
    if (!id) throw notFromService('No address of the upload in the response.');
    this.#id = id;
    this.#offset = 0;
    await onResumable?.(id);
    return true;
  }

  /** @returns the body of the response: the record, after the last piece. undefined if a proxy blocks PATCH */
  async #sendPiece(): Promise<string | undefined> {
    const { content } = this.#upload;
    const start = this.#offset;
    const piece = content.slice(start, start + this.#pieces.next(start, content.size));
    const { response, body } = await this.#patch(start, piece).catch((error: unknown) => {
      if (error instanceof ServiceUnreachable && !isUnsent(error) && this.#pieces.mayExceedLimit)
        error.message = describeLostPiece(piece.size);
      throw error;
    });
    const refusal = await refusalIn({ response, body }, piece.size);
    const effect = refusal && this.#pieces.refuse(refusalOf(refusal));
    if (effect === 'smaller') return '';
    if (effect === 'blocked') return undefined;
    if (refusal) throw refusal;
    this.#offset = offsetOf(response);
    this.#pieces.pass();
    if (this.#offset <= start) throw notFromService('The offset of the upload does not advance.');
    return body;
  }

  #patch(start: number, piece: Blob): Promise<Result> {
    const { service, send, proof, content, onProgress, signal, fetch, stallMs } = this.#upload;
    return exchange(signal, maxBodyBytes, async () =>
      send(service + this.#path, {
        method: 'PATCH',
        headers: {
          ...(await proof()),
          'Tus-Resumable': '1.0.0',
          'Upload-Offset': String(start),
          'Content-Type': 'application/offset+octet-stream',
          Prefer: 'return=representation',
        },
        media: { filename: '', content: piece },
        onProgress: onProgress && ((sent) => onProgress(start + sent, content.size)),
        signal: AbortSignal.any([signal, AbortSignal.timeout(maxMediaRequestMs)]),
        fetch,
        stallMs,
      }),
    );
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

/** Whether the upload has ended, expired or advanced since its offset was found. */
function isOutdated(error: unknown): boolean {
  return error instanceof RequestRefused && ['offset_conflict', 'not_found', 'upload_expired'].includes(error.reason);
}

interface Result {
  readonly response: Response;
  readonly body: string;
}

/** @returns the body @throws RequestRefused */
async function requireOk(result: Result): Promise<string> {
  const refusal = await refusalIn(result);
  if (refusal) throw refusal;
  return result.body;
}

/** `sentBytes`: the size of the request's body. */
async function refusalIn({ response, body }: Result, sentBytes?: number): Promise<RequestRefused | undefined> {
  return response.ok ? undefined : readRefusal('json', body, response, sentBytes);
}

function offsetOf({ headers }: Response): number {
  const offset = headers.get('upload-offset') ?? '';
  if (!/^\d{1,15}$/.test(offset)) throw notFromService('No offset of the upload in the response.');
  return Number(offset);
}
