import type { IncomingMessage } from 'node:http';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { Refusal } from '../answer/refusals.ts';
import { boundaryOf } from './boundary.ts';
import { FormContent } from './form-content.ts';
import type { FieldName } from './part-headers.ts';
import { type BodyReading, readBody } from './read-body.ts';
import { FormReader } from './read-form.ts';
import { ReceivedMedia } from './received-media.ts';
import type { MemoryShare } from './unverified-memory.ts';

// What a form may have beside its media.
const formOverheadBytes = 1024 * 1024;

/** How forms are received, and where to. */
export interface FormSettings {
  readonly store: ObjectStore;
  /** Called with the key of media that could not be discarded. */
  readonly orphaned: (mediaKey: string) => void;
  readonly maxMediaBytes: number;
  readonly minBytesPerSecond: number;
  readonly maxUploadSeconds: number;
  /** `historic` forgives a form what old clients leave out. */
  readonly compatibility: 'strict' | 'historic';
}

interface Receiving {
  /** Nothing reaches the store before it resolves; when it rejects, the upload ends with that at once. */
  readonly after?: Promise<unknown>;
  /** The media does not reach the store before it resolves; when it rejects, the media is dropped and the form is read on. */
  readonly mediaAfter?: Promise<unknown>;
  /** Called when the media begins. Media without memory of its own waits for `mediaAfter` at 256 KiB. */
  readonly mediaMemory?: (crowdOut: (reason: Refusal) => void) => MemoryShare | undefined;
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

/**
 * Reads a multipart body to its end, its media straight into the store; the store may have the last of it later (`media.stored`).
 * Disposing the form discards the media unless it was committed.
 * @throws Refusal `form_malformed`, `media_too_large`, `too_slow`; ClientGone; StoreUnavailable; before any of these what
 * `after` rejects with; what `mediaBegins` rejects with; what `mediaMemory` refuses
 */
export async function receiveForm(
  request: IncomingMessage,
  settings: FormSettings,
  {
    after: verdict,
    mediaAfter: after = verdict,
    mediaMemory: memory,
    fieldRead,
    mediaBegins: begins,
    hashed,
  }: Receiving,
): Promise<FormContent> {
  const { store, orphaned, maxMediaBytes: maxBytes, minBytesPerSecond, maxUploadSeconds: maxSeconds } = settings;
  // No byte comes before it is there.
  let body: BodyReading;
  const receiveMedia = () => new ReceivedMedia({ store, orphaned, body, maxBytes, after, memory, begins, hashed });
  await using unpublished = new AsyncDisposableStack();
  const content = unpublished.use(new FormContent(receiveMedia, fieldRead));
  const read = async () => {
    const form = new FormReader(boundaryOf(request.headers['content-type']), settings.compatibility, content);
    const limits = { maxBytes: maxBytes + formOverheadBytes, minBytesPerSecond, maxSeconds };
    body = readBody(request, limits, (chunk) => form.read(chunk), verdict);
    await body.ended;
    form.end();
  };
  // What the verdict refuses stands above the faults of the form.
  await read().finally(() => verdict);
  unpublished.move();
  return content;
}
