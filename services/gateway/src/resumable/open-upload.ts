import type { ResumableState } from '@echodrop/archive/resumable-state';
import {
  createResumable,
  findResumable,
  type ResumableUpload,
  removeResumable,
  StateConflict,
  saveResumable,
} from '@echodrop/archive/resumable-uploads';
import type { Caller } from '@echodrop/contracts/verification';
import { mediaObjectKey, newMediaKey } from '@echodrop/object-store/object-keys';
import { type ObjectStore, StagedWriteLost } from '@echodrop/object-store/object-store';
import { newStagedWrite } from '@echodrop/object-store/staged-write';
import type { StoredRecord } from '@echodrop/record';
import type { LRUCache } from 'lru-cache';
import type { AdmittedUpload } from '../admit/admission.ts';
import type { ApiKeys } from '../admit/api-keys.ts';
import { idempotencyKeyOf } from '../idempotency/idempotency.ts';
import { requireParameters } from '../receive/complete-upload.ts';
import { requireFittingAlt } from '../receive/form-content.ts';
import type { FormSettings } from '../receive/receive-form.ts';
import { ReceivedNames } from '../receive/received-names.ts';
import { Refusal } from '../response/refusal-error.ts';
import type { UploadContext } from '../upload-context.ts';
import { fieldsOf, keptMetadata, type TusHeaders } from './tus-headers.ts';
import type { WriterLease } from './writer-leases.ts';

// How long an upload may take, from its creation.
const expiryMs = 24 * 3_600_000;

export interface StateDeps {
  readonly store: ObjectStore;
  readonly forms: FormSettings;
  readonly apiKeys: ApiKeys;
  /** The number of the last state of an upload that this process has seen, by id. */
  readonly lastStates: LRUCache<string, number>;
}

/** A request that was admitted, and holds the lease of its upload. Disposing releases slot and lease. */
export interface LeasedRequest extends AsyncDisposable {
  readonly context: UploadContext;
  readonly admitted: AdmittedUpload;
  readonly caller: Caller;
  readonly lease: WriterLease;
}

/** A permanent refusal has ended the upload, and removed its bytes. */
export class UploadRefusedPermanently extends Error {
  override readonly name = 'UploadRefusedPermanently';
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message, { cause: refusal });
    this.refusal = refusal;
  }
}

/** A resumable upload, while a request holds its lease. */
export class OpenUpload {
  readonly #log: UploadContext['log'];
  readonly #deps: StateDeps;
  #last: ResumableUpload;

  constructor(last: ResumableUpload, { context }: LeasedRequest, deps: StateDeps) {
    this.#log = context.log;
    this.#deps = deps;
    this.#last = this.#remember(last);
  }

  get id(): string {
    return this.#last.id;
  }

  /** The last state. */
  get state(): ResumableState {
    return this.#last.state;
  }

  /** Saves the next state. @throws StateConflict, StoreUnavailable */
  async save(change: Partial<ResumableState>): Promise<void> {
    this.#deps.lastStates.delete(this.id);
    this.#last = this.#remember(await saveResumable(this.#deps.store, this.#last, { ...this.state, ...change }));
  }

  /**
   * Keeps the finished state until it expires, so that a client that lost the response can still fetch the record. The state keeps no bytes of the
   * media, and no texts: the user may delete the record. @throws StateConflict, StoreUnavailable
   */
  async savePublished({ id: mediaId }: StoredRecord): Promise<void> {
    const { write } = this.state;
    const expires = new Date(Date.now() + expiryMs);
    const texts = { message: '', alt: undefined, metadata: '', idempotencyKey: undefined };
    const bytes = { head: '', write: { ...write, tails: [] } };
    await this.save({ mediaId, isPublished: true, expires, ...texts, ...bytes });
    await Promise.allSettled(write.tails.map(({ key }) => this.#deps.store.remove(key)));
  }

  /**
   * Removes the upload with its bytes, and with `withMedia` the object that publication would show. The sweep removes what remains.
   * @throws UploadRefusedPermanently
   */
  async end(refusal: Refusal, withMedia: boolean): Promise<never> {
    const { store } = this.#deps;
    const media = withMedia && store.remove(mediaObjectKey(this.state.mediaKey));
    await Promise.allSettled([media, removeResumable(store, this.id, this.state.write)]);
    throw new UploadRefusedPermanently(refusal);
  }

  /** Ends the upload if the store has lost its bytes. @throws UploadRefusedPermanently with `upload_expired`; StateConflict; `error` */
  async endIfLost(error: unknown): Promise<never> {
    if (!(error instanceof StagedWriteLost)) throw error;
    // Perhaps another process has completed the upload since.
    if ((await findResumable(this.#deps.store, this.id))?.number !== this.#last.number) {
      this.#deps.lastStates.delete(this.id);
      throw new StateConflict('not the last state', { cause: error });
    }
    return this.end(new Refusal('upload_expired', { cause: error }), false);
  }

  #remember(saved: ResumableUpload): ResumableUpload {
    const { id, number, state } = saved;
    this.#deps.lastStates.set(id, number);
    Object.assign(this.#log, { resumableId: id, offset: state.write.size, length: state.length });
    return saved;
  }
}

/**
 * Creates an upload under `id`, with the parameters of `Upload-Metadata`.
 * @throws Refusal for missing or malformed parameters, blocks and limits; StoreUnavailable
 */
export async function startUpload(
  request: LeasedRequest,
  id: string,
  { metadata, length }: TusHeaders,
  deps: StateDeps,
): Promise<OpenUpload> {
  const fields = fieldsOf(metadata);
  requireFittingAlt(fields.get('alt') ?? '');
  const media = length === 0 ? undefined : true;
  const received = new ReceivedNames([...metadata.keys(), ...(media ? [] : ['media'])]);
  const parameters = { fields, media, misplaced: new Map(), received };
  const { message, alt, application } = requireParameters(parameters, deps.apiKeys, deps.forms.compatibility);
  const idempotencyKey = idempotencyKeyOf(request.context.request.headers);
  await request.admitted.admitApplication(application);
  const mediaKey = newMediaKey();
  const created = await createResumable(deps.store, id, {
    expires: new Date(Date.now() + expiryMs),
    provider: request.caller.provider,
    subject: request.caller.subject,
    application,
    message,
    alt,
    metadata: keptMetadata(metadata),
    idempotencyKey,
    length,
    mediaKey,
    head: '',
    write: newStagedWrite(mediaObjectKey(mediaKey), 'application/octet-stream'),
    isPublished: false,
  });
  return new OpenUpload(created, request, deps);
}

/** An upload of this caller. @throws Refusal `not_found`, `upload_expired`; StoreUnavailable */
export async function findOwnUpload(request: LeasedRequest, id: string, deps: StateDeps): Promise<OpenUpload> {
  const { provider, subject } = request.caller;
  const found = await findResumable(deps.store, id, deps.lastStates.get(id));
  if (found?.state.provider !== provider || found.state.subject !== subject)
    throw new Refusal('not_found', { message: 'resumable' });
  if (found.state.expires.getTime() < Date.now()) throw new Refusal('upload_expired');
  return new OpenUpload(found, request, deps);
}
