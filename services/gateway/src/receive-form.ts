import type { IncomingMessage } from 'node:http';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { boundaryOf } from './boundary.ts';
import { FormContent } from './form-content.ts';
import type { FieldName } from './part-headers.ts';
import { readBody } from './read-body.ts';
import { FormReader } from './read-form.ts';
import { ReceivedMedia } from './received-media.ts';
import { Refusal } from './refusals.ts';

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
   * Reads the multipart body to its end, its media straight into the store; the store may have the last of it later (`media.stored`).
   * @throws Refusal `form_malformed`, `media_too_large`, `too_slow`; ClientGone; StoreUnavailable; before any of these what
   * `after` rejects with; what `mediaBegins` rejects with
   */
  async receive(request: IncomingMessage, receiving: Receiving): Promise<ReceivedForm> {
    await using unpublished = new AsyncDisposableStack();
    const content = this.#read(request, receiving, unpublished);
    // What the verdict refuses stands above the faults of the form.
    const { fields, media, files } = await content.finally(() => receiving.after);
    const held = unpublished.move();
    return { fields, media, files, [Symbol.asyncDispose]: () => held.disposeAsync() };
  }

  async #read(
    request: IncomingMessage,
    { after: verdict, fieldRead, mediaBegins: begins, hashed }: Receiving,
    unpublished: AsyncDisposableStack,
  ): Promise<FormContent> {
    const { maxMediaBytes: maxBytes, minBytesPerSecond, maxUploadSeconds: maxSeconds, compatibility } = this.#rules;
    const receiveMedia = () =>
      unpublished.use(new ReceivedMedia(this.#store, this.#orphaned, { body, maxBytes, verdict, begins, hashed }));
    const content = new FormContent(receiveMedia, fieldRead);
    const form = new FormReader(boundaryOf(request.headers['content-type']), compatibility, content);
    const limits = { maxBytes: maxBytes + formOverheadBytes, minBytesPerSecond, maxSeconds };
    const body = readBody(request, limits, (chunk) => form.read(chunk), verdict);
    await body.ended;
    form.end();
    return content;
  }
}
