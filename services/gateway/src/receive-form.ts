import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { type FieldName, multipartParser } from './multipart.ts';
import { readBody } from './read-body.ts';
import { ReceivedMedia } from './received-media.ts';
import { ClientGone, Refusal } from './refusals.ts';

// What a form may have beside its media.
const formOverheadBytes = 1024 * 1024;

/** The parameters of a form and its media, as far as they were there. Disposing discards the media unless it was committed. */
export interface ReceivedForm extends AsyncDisposable {
  readonly fields: ReadonlyMap<FieldName, string>;
  readonly media: ReceivedMedia | undefined;
}

export interface FormLimits {
  readonly maxMediaBytes: number;
  readonly minBytesPerSecond: number;
  readonly maxUploadSeconds: number;
}

interface Receiving {
  /** Nothing reaches the store before it resolves; when it rejects, the upload ends with that at once. */
  readonly after?: Promise<unknown>;
  /** Called with each field that was read. */
  readonly fieldRead?: (fields: ReadonlyMap<FieldName, string>) => void;
}

/** Refuses a body that is announced to be too large for any media that we take. @throws Refusal `media_too_large` */
export function requireFittingBody(request: IncomingMessage, maxMediaBytes: number): void {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > maxMediaBytes + formOverheadBytes) throw new Refusal('media_too_large');
}

/** Receives forms into `store`; `orphaned` is told of media that could not be discarded. */
export class FormReceiver {
  readonly #store: ObjectStore;
  readonly #limits: FormLimits;
  readonly #orphaned: (mediaKey: string) => void;

  constructor(store: ObjectStore, limits: FormLimits, orphaned: (mediaKey: string) => void) {
    this.#store = store;
    this.#limits = limits;
    this.#orphaned = orphaned;
  }

  /**
   * Reads the multipart body to its end, its media straight into the store.
   * @throws Refusal `form_malformed`, `media_too_large`, `too_slow`; ClientGone; StoreUnavailable; before any of these what
   * `after` rejects with
   */
  async receive(request: IncomingMessage, { after, fieldRead }: Receiving): Promise<ReceivedForm> {
    await using unpublished = new AsyncDisposableStack();
    const stop = new AbortController();
    const fields = new Map<FieldName, string>();
    let media: ReceivedMedia | undefined;
    let stored: Promise<void> | undefined;
    after?.catch((refusal) => stop.abort(refusal));
    try {
      const parser = multipartParser(request.headers, this.#limits.maxMediaBytes, {
        field: (name, value) => {
          fields.set(name, value);
          fieldRead?.(fields);
        },
        media: (bytes) => {
          media ??= unpublished.use(new ReceivedMedia(this.#store, this.#orphaned));
          stored = media.receive(bytes, after);
          stored.catch((error) => stop.abort(error));
        },
        tooLarge: () => media?.isTooLarge(),
      });
      parser.once('error', (error) =>
        stop.abort(isTold(error) ? error : new Refusal('form_malformed', { cause: error })),
      );
      const body = readBody(request, this.#bodyLimits(), { after, signal: stop.signal });
      await pipeline(body, parser, { signal: stop.signal });
      await stored;
    } catch (error) {
      await after;
      throw stop.signal.aborted ? stop.signal.reason : error;
    }
    await after;
    const held = unpublished.move();
    return { fields, media, [Symbol.asyncDispose]: () => held.disposeAsync() };
  }

  #bodyLimits() {
    const { maxMediaBytes, minBytesPerSecond, maxUploadSeconds: maxSeconds } = this.#limits;
    return { maxBytes: maxMediaBytes + formOverheadBytes, minBytesPerSecond, maxSeconds };
  }
}

function isTold(error: unknown): boolean {
  return error instanceof Refusal || error instanceof ClientGone;
}
