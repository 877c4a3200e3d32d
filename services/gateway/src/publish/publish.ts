import { addToListings } from '@echodrop/archive/listing';
import { listingEntryOf } from '@echodrop/archive/listing-keys';
import { ownerHash } from '@echodrop/archive/owner';
import { findRecord } from '@echodrop/archive/records';
import type { ProbeClient } from '@echodrop/contracts/probe';
import type { RenditionClient } from '@echodrop/contracts/rendition';
import type { MediaLimits } from '@echodrop/media/outcomes';
import { probeJpeg } from '@echodrop/media/photo-size/jpeg-header';
import { recordKey } from '@echodrop/object-store/object-keys';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { encodeStoredRecord, newMediaId, type StoredRecord } from '@echodrop/record';
import type { BlockList } from '../admit/block-list.ts';
import type { GatewayEvents } from '../events.ts';
import type { CompleteUpload } from '../receive/complete-upload.ts';
import { Refusal } from '../response/refusal-error.ts';
import type { UploadContext } from '../upload-context.ts';
import {
  commitMs,
  commitRecord,
  ownRecord,
  type Payload,
  requireSamePayload,
  retryCommit,
  type Uploader,
} from './commit-record.ts';
import { mediaUnsupported } from './unsupported-media.ts';

// The longest that the last try may take in the store.
const lastTryMs = 30_000;

/** The record may have been written, or may be written later. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
}

interface PublisherDeps {
  readonly store: ObjectStore;
  readonly probes: Pick<ProbeClient, 'probe'>;
  readonly probeTimeoutMs: number;
  readonly mediaLimits: MediaLimits;
  readonly renditions: Pick<RenditionClient, 'enqueue'>;
  readonly blocks: Pick<BlockList, 'refuseBlocked'>;
  readonly events: Pick<GatewayEvents, 'mediaProbed' | 'listingFailed' | 'listingRepaired' | 'enqueueFailed'>;
}

/** The part of an upload's context that publishing needs. */
export type PublishContext = Pick<UploadContext, 'signal' | 'log'>;

/** Makes media public: probes it, writes its record, enqueues its renditions, and lists it. */
export class Publisher {
  readonly #deps: PublisherDeps;
  /** No record is written later than this many ms after publishing began. */
  readonly maxMs: number;

  constructor(deps: PublisherDeps) {
    this.#deps = deps;
    this.maxMs = deps.probeTimeoutMs + commitMs + lastTryMs;
  }

  /**
   * Resolves with the record once it is in the store. `claimedId` is the id under which earlier attempts of the same upload may have
   * published it, or may yet: the first record wins.
   * @throws Refusal `media_unsupported`, `*_blocked`; QueueUnavailable; the signal's reason; once the record may have been written, OutcomeUnknown or
   * Refusal `removed`
   */
  async publish(upload: CompleteUpload, context: PublishContext, claimedId?: string): Promise<StoredRecord> {
    const { media, message, alt, application, caller, stored } = upload;
    const { type, width, height } = await this.#probe(upload, context);
    context.signal.throwIfAborted();
    const record = {
      id: claimedId ?? newMediaId(),
      text: message,
      alt,
      width,
      height,
      size: stored.size,
      type,
      timestamp: new Date(),
      user: { id: caller.userId, screenName: caller.screenName },
      mediaKey: media.key,
      etag: stored.etag,
      crc32: stored.crc32,
      provider: caller.provider,
      subject: caller.subject,
      application,
    };
    // The wait for the probe may have been long.
    this.#deps.blocks.refuseBlocked(record);
    media.commit();
    // While the record is written: readers skip an entry without a record (docs/decisions/listings-and-removals.md).
    const listing = Promise.allSettled([this.#addToListings(record)]);
    const commit = {
      isClaimed: claimedId !== undefined,
      beforeWrite: async () => this.#deps.blocks.refuseBlocked(record),
    };
    const published = await commitRecord(this.#deps.store, record, commit).catch(async (cause) => {
      await listing;
      if (cause instanceof Refusal && cause.reason === 'removed') throw cause;
      throw new OutcomeUnknown('the record may have been written', { cause });
    });
    if (published.mediaKey !== media.key) {
      await this.#relist(published);
      return published;
    }
    // Not awaited: without renditions a viewer waits for some seconds, and the upload for none.
    this.#deps.renditions
      .enqueue({ mediaKey: media.key, type, pixels: width * height, bytes: stored.size, owner: ownerHash(record) })
      .catch((error) => this.#deps.events.enqueueFailed(media.key, error));
    // Under a new id, the first entries list nothing.
    const isNewId = published.id !== record.id;
    const [listed] = await (isNewId ? Promise.allSettled([this.#addToListings(published)]) : listing);
    if (listed.status === 'rejected') this.#deps.events.listingFailed(published.id, listed.reason);
    return published;
  }

  /**
   * Confirms the record of an earlier attempt: it has the payload of this one, is still in the store, and is in the listings.
   * @throws Refusal `*_blocked`; StoreUnavailable
   */
  async confirm(record: StoredRecord, payload: Payload): Promise<void> {
    requireSamePayload(record, payload);
    this.#deps.blocks.refuseBlocked(record);
    // Its writer may have died before the store had synced it.
    await this.#deps.store.putIfAbsent(recordKey(record.id), encodeStoredRecord(record));
    await this.#relist(record);
  }

  /** The record of `id` if it belongs to this user and application. @throws Refusal `removed`, StoreUnavailable, UnreadableRecord */
  async find(id: string, uploader: Uploader): Promise<StoredRecord | undefined> {
    const found = await findRecord(this.#deps.store, id);
    return found && ownRecord(uploader, found);
  }

  /** @throws Refusal `media_unsupported`; QueueUnavailable; the signal's reason */
  async #probe({ media, stored, caller }: CompleteUpload, { signal, log }: PublishContext) {
    const { probes, probeTimeoutMs: deadlineMs, mediaLimits, events } = this.#deps;
    const { key: mediaKey, head, type } = media;
    if (type === undefined) throw mediaUnsupported('unknown_type', type);
    // A JPEG with its header in the first 16 KiB is read here: that costs less than a job, and runs no decoder (docs/decisions/upload-cost.md).
    const read = type === 'jpg' ? await probeJpeg(head, mediaLimits) : undefined;
    if (read) events.mediaProbed(read);
    const onOwnWait = (ms: number) => {
      log.ownWaitSeconds = Math.round(ms) / 1000;
    };
    const waiting = { owner: ownerHash(caller), deadlineMs, signal, onOwnWait };
    const probe = read ?? (await probes.probe({ mediaKey, size: stored.size, head }, type, waiting));
    if (probe.outcome === 'unsupported') throw mediaUnsupported(probe.why, type);
    return probe;
  }

  // Adds listing entries that an earlier attempt did not write. A failure is counted: the next sweep adds the entries.
  async #relist(record: StoredRecord): Promise<void> {
    const { events } = this.#deps;
    await this.#addToListings(record).then(
      (wasMissing) => wasMissing && events.listingRepaired(record.id),
      (error) => events.listingFailed(record.id, error),
    );
  }

  #addToListings(record: StoredRecord): Promise<boolean> {
    return retryCommit(() => addToListings(this.#deps.store, listingEntryOf(record)));
  }
}
