import { AsyncLocalStorage } from 'node:async_hooks';
import type { Readable } from 'node:stream';
import { ownerHash } from '@echodrop/archive/owner';
import { DataStore, type Lock, type Locker, Metadata, Upload } from '@tus/utils';
import { appendBytes, isComplete } from './append-bytes.ts';
import { createUpload, declareLength } from './create-upload.ts';
import { findOwnUpload, findPublished } from './find-upload.ts';
import { publishUpload, terminateUpload } from './publish-upload.ts';
import type { ResumableDeps } from './resumable-deps.ts';
import type { AdmittedRequest, LeasedRequest, TusRequest } from './tus-request.ts';
import type { WriterLeases } from './writer-leases.ts';

/** The request in which the library calls store and locker, which it does not pass to them. */
export const currentRequest = new AsyncLocalStorage<TusRequest>();

/** Uploads, as @tus/server wants to see them. It has no bytes: those of the request go to the object store directly, because it would pass them through five streams. */
export class TusStore extends DataStore {
  override extensions = [
    'creation',
    'creation-with-upload',
    'creation-defer-length',
    'expiration',
    'termination',
    'checksum',
  ];
  readonly #deps: ResumableDeps;

  constructor(deps: ResumableDeps) {
    super();
    this.#deps = deps;
  }

  override async create(upload: Upload): Promise<Upload> {
    const request = admitted();
    request.upload = await createUpload(request, upload.id, upload.size, this.#deps);
    upload.creation_date = this.#creationOf(request.upload.state.expires);
    return upload;
  }

  /** Publishes a complete upload first, whose earlier request may have died: its client may take it for done if all bytes have arrived. */
  override async getUpload(id: string): Promise<Upload> {
    const request = admitted();
    request.upload = await findOwnUpload(request.caller, id, this.#deps);
    const { isPublished } = request.upload.state;
    // A creation with all bytes has just published it.
    if (isPublished) request.published ??= await findPublished(request.upload, this.#deps);
    else if (isComplete(request.upload.state)) request.published = await publishUpload(leased(), this.#deps);
    const { length, write, metadata, expires } = request.upload.state;
    const known = { size: length, ...(metadata && { metadata: Metadata.parse(metadata) }) };
    return new Upload({ id, offset: write.size, creation_date: this.#creationOf(expires), ...known } as Upload);
  }

  override async write(empty: Readable): Promise<number> {
    empty.resume();
    const request = leased();
    if (!request.published) {
      await appendBytes(request, this.#deps);
      if (isComplete(request.upload.state)) request.published = await publishUpload(request, this.#deps);
    }
    return request.upload.state.write.size;
  }

  override async declareUploadLength(_id: string, length: number): Promise<void> {
    await declareLength(leased(), length, this.#deps);
  }

  override async remove(id: string): Promise<void> {
    const request = admitted();
    request.upload = await findOwnUpload(request.caller, id, this.#deps);
    await terminateUpload(leased(), this.#deps);
  }

  override getExpiration(): number {
    return this.#deps.expiryMs;
  }

  // The library adds `getExpiration`.
  #creationOf(expires: Date): string {
    return new Date(expires.getTime() - this.#deps.expiryMs).toISOString();
  }
}

/** Leases, as @tus/server wants to see them. */
export class TusLocker implements Locker {
  readonly #leases: WriterLeases;

  constructor(leases: WriterLeases) {
    this.#leases = leases;
  }

  newLock(id: string): Lock {
    const request = requireRequest();
    return {
      lock: async () => {
        // By the owner too: another user must not notice that the upload exists.
        request.lease = await this.#leases.acquire(id, ownerHash(admitted().caller), request.context.signal);
      },
      unlock: async () => {
        await request.lease?.[Symbol.asyncDispose]();
      },
    };
  }
}

/** @throws Error outside `currentRequest` */
export function requireRequest(): TusRequest {
  const request = currentRequest.getStore();
  if (!request) throw new Error('not within a request');
  return request;
}

function admitted() {
  return requireRequest() as AdmittedRequest;
}

function leased() {
  return requireRequest() as LeasedRequest;
}
