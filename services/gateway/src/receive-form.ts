import type { IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { boundaryOf } from './boundary.ts';
import { type FieldName, multipartParser } from './multipart.ts';
import { readBody } from './read-body.ts';
import { ReceivedMedia } from './received-media.ts';
import { ClientGone, Refusal } from './refusals.ts';
import { tidyForm } from './tidy-form.ts';

// What a form may have beside its media.
const formOverheadBytes = 1024 * 1024;

/** The parameters of a form and its media, as far as they were there. Disposing discards the media unless it was committed. */
export interface ReceivedForm extends AsyncDisposable {
  readonly fields: ReadonlyMap<FieldName, string>;
  readonly media: ReceivedMedia | undefined;
  /** The parameters that came as files, and so did not come. */
  readonly files: ReadonlySet<FieldName>;
}

export interface FormRules {
  readonly maxMediaBytes: number;
  readonly minBytesPerSecond: number;
  readonly maxUploadSeconds: number;
  /** `historic` forgives a form what old clients leave out. */
  readonly compatibility: 'strict' | 'historic';
}

interface Receiving {
  /** Nothing reaches the store before it resolves; when it rejects, the upload ends with that at once. */
  readonly after?: Promise<unknown>;
  /** Called with each field that was read. */
  readonly fieldRead?: (fields: ReadonlyMap<FieldName, string>) => void;
  /** Called with the media's first bytes before they reach the store; when it rejects, the upload ends with that. */
  readonly mediaBegins?: (first: Buffer) => Promise<void>;
  /** Whether the media's content hash will be asked for. */
  readonly hashed?: boolean;
}

/** Refuses a body that is announced to be too large for any media that we take. @throws Refusal `media_too_large` */
export function requireFittingBody(request: IncomingMessage, maxMediaBytes: number): void {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > maxMediaBytes + formOverheadBytes) throw new Refusal('media_too_large');
}

/** Receives forms into `store`; `orphaned` is told of media that could not be discarded. */
export class FormReceiver {
  readonly #store: ObjectStore;
  readonly #rules: FormRules;
  readonly #orphaned: (mediaKey: string) => void;

  constructor(store: ObjectStore, rules: FormRules, orphaned: (mediaKey: string) => void) {
    this.#store = store;
    this.#rules = rules;
    this.#orphaned = orphaned;
  }

  /**
   * Reads the multipart body to its end, its media straight into the store.
   * @throws Refusal `form_malformed`, `media_too_large`, `too_slow`; ClientGone; StoreUnavailable; before any of these what
   * `after` rejects with; what `mediaBegins` rejects with
   */
  async receive(request: IncomingMessage, receiving: Receiving): Promise<ReceivedForm> {
    const { after, fieldRead, mediaBegins: begins, hashed } = receiving;
    await using unpublished = new AsyncDisposableStack();
    const stop = new AbortController();
    const fields = new Map<FieldName, string>();
    const files = new Set<FieldName>();
    let media: ReceivedMedia | undefined;
    let stored: Promise<void> | undefined;
    after?.catch((refusal) => stop.abort(refusal));
    try {
      const boundary = boundaryOf(request.headers['content-type']);
      const parser = multipartParser(boundary, this.#rules.maxMediaBytes, {
        field: (name, value) => {
          fields.set(name, value);
          fieldRead?.(fields);
        },
        media: (bytes) => {
          media ??= unpublished.use(new ReceivedMedia(this.#store, this.#orphaned));
          stored = media.receive(bytes, { after, begins, hashed });
          stored.catch((error) => stop.abort(error));
        },
        tooLarge: () => media?.isTooLarge(),
        fileInstead: (name) => files.add(name),
      });
      parser.once('error', (error) =>
        stop.abort(isTold(error) ? error : new Refusal('form_malformed', { cause: error })),
      );
      const body = readBody(request, this.#bodyLimits(), { after, signal: stop.signal });
      const tidied = tidyForm(body, boundary, this.#rules.compatibility);
      await pipeline(tidied, parser, { signal: stop.signal });
      await stored;
    } catch (error) {
      await after;
      throw stop.signal.aborted ? stop.signal.reason : error;
    }
    await after;
    const held = unpublished.move();
    return { fields, media, files, [Symbol.asyncDispose]: () => held.disposeAsync() };
  }

  #bodyLimits() {
    const { maxMediaBytes, minBytesPerSecond, maxUploadSeconds: maxSeconds } = this.#rules;
    return { maxBytes: maxMediaBytes + formOverheadBytes, minBytesPerSecond, maxSeconds };
  }
}

function isTold(error: unknown): boolean {
  return error instanceof Refusal || error instanceof ClientGone;
}
