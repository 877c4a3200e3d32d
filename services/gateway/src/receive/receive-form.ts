import type { IncomingMessage } from 'node:http';
import type { MediaType } from '@echodrop/media/detect-media-type';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { bindTrace } from '@echodrop/service/tracing/trace';
import { mediaTooLarge, Refusal } from '../response/refusal-error.ts';
import { FormContent, type OnField } from './form-content.ts';
import { mediaTypeOf, parametersOf } from './header-parameters.ts';
import { type BodyReading, readBody } from './read-body.ts';
import { FormReader } from './read-form.ts';
import { type MediaOptions, ReceivedMedia } from './received-media.ts';

// Everything in a form except its media.
const formOverheadBytes = 1024 * 1024;

/** How forms are received, and where their media goes. */
export interface FormSettings {
  readonly store: ObjectStore;
  /** Called with the key of media that could not be discarded. */
  readonly onOrphan: (mediaKey: string) => void;
  readonly maxMediaBytes: number;
  /** Types that are refused. */
  readonly typesOff: ReadonlySet<MediaType>;
  readonly maxUploadSeconds: number;
  /** `historic` forgives a form what old clients leave out. */
  readonly compatibility: 'strict' | 'historic';
}

export interface FormOptions extends Omit<MediaOptions, 'admitMedia'> {
  /** As in MediaOptions, with what has arrived of the form. */
  readonly admitMedia?: (type: MediaType | undefined, form: FormContent) => Promise<Refusal | undefined>;
  /** A rejected `verdict` ends the upload, and until the verdict reading pauses at 256 KiB. Otherwise only the media is dropped. */
  readonly stopOnRefusal?: boolean;
  /** Called after each field with all fields so far. */
  readonly onField?: OnField;
}

/** Refuses a body that is announced as larger than any form. @throws Refusal `media_too_large` */
export function requireFittingBody(request: IncomingMessage, maxMediaBytes: number): void {
  const announced = Number(request.headers['content-length'] ?? 0);
  if (announced > maxMediaBytes + formOverheadBytes) throw mediaTooLarge(maxMediaBytes);
}

/**
 * Reads a multipart body to its end, and streams its media into the store. May return before the last bytes are stored: await `media.awaitStored()`.
 * Disposing the form discards the media unless it was committed.
 * @throws with `stopOnRefusal`, before anything else, what `verdict` rejects with; Refusal `form_malformed`, `media_too_large`,
 * `too_slow`; ClientGone; StoreUnavailable; what `admitMedia` and `openMemory` throw
 */
export async function receiveForm(
  request: IncomingMessage,
  settings: FormSettings,
  { stopOnRefusal = false, onField, admitMedia, ...options }: FormOptions,
): Promise<FormContent> {
  const { maxMediaBytes } = settings;
  const tooLarge = () => mediaTooLarge(maxMediaBytes);
  const limits = { ...settings, maxBytes: maxMediaBytes + formOverheadBytes, tooLarge };
  const verdict = stopOnRefusal ? options.verdict : undefined;
  const media: MediaOptions = {
    ...options,
    ...(admitMedia && { admitMedia: (type) => admitMedia(type, content) }),
  };
  // Assigned before the first byte is read.
  let body: BodyReading;
  await using unpublished = new AsyncDisposableStack();
  const content: FormContent = unpublished.use(
    new FormContent(() => new ReceivedMedia({ ...settings, body }, media), onField),
  );
  const read = async () => {
    const form = new FormReader(boundaryOf(request.headers['content-type']), settings.compatibility, content);
    body = readBody(
      request,
      limits,
      bindTrace((chunk) => form.read(chunk)),
      verdict,
    );
    await body.ended;
    form.end();
  };
  // A refused caller takes precedence over a malformed form.
  await read().finally(() => verdict);
  unpublished.move();
  return content;
}

/**
 * The boundary of a form (RFC 2046 section 5.1.1: 1 to 70 characters). Accepts one that lacks necessary quotes (`boundary=----=_Part_1`),
 * and the comma of RFC 1867. @throws Refusal `form_malformed`
 */
export function boundaryOf(contentType = ''): string {
  const [boundary = '', ...others] = parametersOf(contentType).get('boundary') ?? [];
  const type = mediaTypeOf(contentType);
  if (type !== 'multipart/form-data')
    throw new Refusal('form_malformed', { message: 'contentType', values: { type: type || 'missing' } });
  if (others.length > 0 || !/^[\x20-\x7e]{0,69}[\x21-\x7e]$/.test(boundary))
    throw new Refusal('form_malformed', { message: 'noBoundary' });
  return boundary;
}
