import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProbeClient } from '@echodrop/contracts/probe';
import type { Caller } from '@echodrop/contracts/verification';
import { mediaTypeOf } from '@echodrop/media/media-type';
import { recordObject } from '@echodrop/object-store/object-keys';
import { type ObjectStore, StoreUnavailable } from '@echodrop/object-store/object-store';
import { decodeStoredRecord, encodeStoredRecord, newMediaId, type StoredRecord } from '@echodrop/record';
import { Refusal } from './refusals.ts';
import { type CompleteUpload, requireSize } from './require-upload.ts';

// How long a commit that the store does not answer is tried again.
const commitMs = 15_000;
const commitPauseMs = 250;

/** Makes media public: finds out what it is, then writes its record. */
export class Publisher {
  readonly #store: ObjectStore;
  readonly #probes: ProbeClient;
  readonly #probeDeadlineMs: number;

  constructor(store: ObjectStore, probes: ProbeClient, probeDeadlineMs: number) {
    this.#store = store;
    this.#probes = probes;
    this.#probeDeadlineMs = probeDeadlineMs;
  }

  /**
   * The record of `upload`, once it is in the store.
   * @throws Refusal `media_too_large`, `media_unsupported`; QueueUnavailable, StoreUnavailable; the signal's reason, but never
   * once the record may have been written
   */
  async publish(
    { media, message, application }: CompleteUpload,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<StoredRecord> {
    const { size, etag } = await requireSize(media);
    const { type, width, height } = await this.#probe(media.key, media.head, size, signal);
    signal.throwIfAborted();
    media.commit();
    return this.#commit({
      id: newMediaId(),
      text: message,
      width,
      height,
      size,
      type,
      timestamp: new Date(),
      user: { id: caller.userId, screenName: caller.screenName },
      mediaKey: media.key,
      etag,
      provider: caller.provider,
      subject: caller.subject,
      application,
    });
  }

  async #probe(mediaKey: string, head: Buffer, size: number, signal: AbortSignal) {
    const type = mediaTypeOf(head);
    if (type === undefined) throw new Refusal('media_unsupported');
    const probe = await this.#probes.probe({ mediaKey, size, head }, type, {
      deadlineMs: this.#probeDeadlineMs,
      signal,
    });
    if (probe.outcome === 'unsupported') throw new Refusal('media_unsupported');
    return probe;
  }

  // A try either publishes, or leaves open whether it did: then the record is read back. The id is kept as long as it may be ours.
  async #commit(record: StoredRecord): Promise<StoredRecord> {
    const object = recordObject(record.id);
    const end = Date.now() + commitMs;
    for (;;) {
      try {
        const written = await this.#store.putIfAbsent(object, encodeStoredRecord(record));
        if (written === 'created' || (await this.#isOurs(object, record.mediaKey))) return record;
        return await this.#commit({ ...record, id: newMediaId() });
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || Date.now() > end) throw error;
        await sleep(commitPauseMs);
      }
    }
  }

  async #isOurs(object: string, mediaKey: string): Promise<boolean> {
    const reading = await this.#store.read(object);
    return reading !== undefined && decodeStoredRecord(await buffer(reading.body)).mediaKey === mediaKey;
  }
}
