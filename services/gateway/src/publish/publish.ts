import { findRecord } from '@echodrop/archive/find-record';
import { enter, listedAs, strike } from '@echodrop/archive/listing';
import { ownerHash } from '@echodrop/archive/owner';
import type { RenditionClient } from '@echodrop/contracts/rendition';
import type { Caller } from '@echodrop/contracts/verification';
import { detectMediaType, type MediaType } from '@echodrop/media/media-type';
import type { UnsupportedReason } from '@echodrop/media/unsupported';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { newMediaId, type StoredRecord } from '@echodrop/record';
import { mediaUnsupported, Refusal } from '../answer/refusals.ts';
import type { MediaProbe } from '../receive/media-probe.ts';
import type { ReceivedMedia } from '../receive/received-media.ts';
import { type CompleteUpload, requireSize } from '../receive/require-upload.ts';
import { commitMs, commitRecord, type Owner, recordOf, retried } from './commit-record.ts';

// What the last try may take in the store.
const lastTryMs = 15_000;

/** The record may have been written, or may yet be. */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
}

/** Why media was not published, for the log: no word of it goes to the client as it is. */
export class MediaFailure extends Error {
  override readonly name = 'MediaFailure';
  readonly mediaKey: string;
  /** Where the media is at fault. */
  readonly why: UnsupportedReason | undefined;

  constructor(mediaKey: string, { why, cause }: { why?: UnsupportedReason; cause?: unknown }) {
    super('the media was not published', { cause });
    this.mediaKey = mediaKey;
    this.why = why;
  }
}

/** What happens beside the records of published uploads. */
export interface PublishEvents {
  /** A record could not be listed. */
  readonly uploadUnlisted: (mediaId: string, error: unknown) => void;
  /** A record was not listed, and now is. */
  readonly uploadRelisted: (mediaId: string) => void;
  /** The queue did not take the renditions: a later view enqueues them. */
  readonly renditionsUnasked: (mediaKey: string, error: unknown) => void;
}

type Probes = Pick<MediaProbe, 'probe' | 'deadlineMs'>;

/** Makes media public: finds out what it is, writes its record, enqueues its renditions, and lists it. */
export class Publisher {
  readonly #store: ObjectStore;
  readonly #probes: Probes;
  readonly #renditions: Pick<RenditionClient, 'enqueue'>;
  readonly #events: PublishEvents;
  /** Nobody writes a record any more when so much time has passed since its publishing began. */
  readonly longestMs: number;

  constructor(store: ObjectStore, probes: Probes, renditions: Pick<RenditionClient, 'enqueue'>, events: PublishEvents) {
    this.#renditions = renditions;
    this.#events = events;
    this.#store = store;
    this.#probes = probes;
    this.longestMs = probes.deadlineMs + commitMs + lastTryMs;
  }

  /**
   * The record of `upload`, once it is in the store. A `claimedId` is the id under which earlier attempts of the same upload may have
   * published it, or may yet: whichever was first is the answer.
   * @throws Refusal `media_too_large`, `media_unsupported` (its cause a MediaFailure); a MediaFailure whose cause is QueueUnavailable; the
   * signal's reason; once the record may have been written, OutcomeUnknown, its cause a MediaFailure, or Refusal `removed`
   */
  async publish(
    { media, message, application }: CompleteUpload,
    caller: Caller,
    signal: AbortSignal,
    claimedId?: string,
  ): Promise<StoredRecord> {
    const { size, etag, crc32, type, width, height } = await this.#storedAndProbed(media, signal);
    signal.throwIfAborted();
    media.commit();
    const record = {
      id: claimedId ?? newMediaId(),
      text: message,
      width,
      height,
      size,
      type,
      timestamp: new Date(),
      user: { id: caller.userId, screenName: caller.screenName },
      mediaKey: media.key,
      etag,
      crc32,
      provider: caller.provider,
      subject: caller.subject,
      application,
    };
    // Beside the record, for whom an entry without one is passed over (decision 017).
    const entering = this.#enter(record);
    const published = await commitRecord(this.#store, record, claimedId !== undefined).catch(async (cause) => {
      await entering;
      if (cause instanceof Refusal) {
        await this.#strike(record);
        throw cause;
      }
      throw new OutcomeUnknown('the record may have been written', { cause: new MediaFailure(media.key, { cause }) });
    });
    const entered = await entering;
    const isAsWritten = published.id === record.id && published.timestamp.getTime() === record.timestamp.getTime();
    if (!isAsWritten) await this.#strike(record);
    if (published.mediaKey === media.key) {
      // Nobody waits for the renditions: a queue that is down costs a later viewer some seconds, and the upload nothing.
      this.#renditions
        .enqueue({ mediaKey: media.key, type, owner: ownerHash(record) })
        .catch((error) => this.#events.renditionsUnasked(media.key, error));
      // The store may have come back just in time for the record alone.
      if (!isAsWritten || entered === 'failed') await this.#enter(published);
    } else await this.list(published);
    return published;
  }

  /** Writes the missing entries of a record that was found: whoever wrote the record may have died before them. Never throws. */
  async list(record: StoredRecord): Promise<void> {
    if ((await this.#enter(record)) === 'added') this.#events.uploadRelisted(record.id);
  }

  /**
   * The record of `id`, if there is one and it is of this user and application.
   * @throws Refusal `removed` where it was this user's; StoreUnavailable, UnreadableRecord
   */
  async find(id: string, owner: Owner): Promise<StoredRecord | undefined> {
    const found = await findRecord(this.#store, id);
    return found && recordOf(owner, found);
  }

  async #storedAndProbed(media: ReceivedMedia, signal: AbortSignal) {
    const { size, etag, crc32 } = await requireSize(media);
    const type = detectMediaType(media.head);
    if (type === undefined) throw unsupported(media.key, 'unknown_type', type);
    const probe = await this.#probes.probe(media, type, signal).catch((cause) => {
      signal.throwIfAborted();
      throw new MediaFailure(media.key, { cause });
    });
    if (probe.outcome === 'unsupported') throw unsupported(media.key, probe.why, type);
    return { ...probe, size, etag, crc32 };
  }

  async #enter(record: StoredRecord): Promise<'added' | 'there' | 'failed'> {
    try {
      return (await retried(() => enter(this.#store, listedAs(record)))) ? 'added' : 'there';
    } catch (error) {
      this.#events.uploadUnlisted(record.id, error);
      return 'failed';
    }
  }

  // An entry that stays lists nothing.
  async #strike(record: StoredRecord): Promise<void> {
    await strike(this.#store, listedAs(record)).catch(() => {});
  }
}

function unsupported(mediaKey: string, why: UnsupportedReason, type: MediaType | undefined): Refusal {
  return mediaUnsupported(why, type, new MediaFailure(mediaKey, { why }));
}
