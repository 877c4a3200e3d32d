/** Media that every platform can upload. */
export type MediaSource = Blob | Uint8Array<ArrayBuffer> | ArrayBuffer | ReadableStream<Uint8Array>;

/** Called while media is sent: bytes so far, and bytes of the whole media, if known. After a failed attempt it starts again. */
export type Progress = (sent: number, total: number | undefined) => void;

/** Media that can be sent: a Blob as often as necessary, or a stream once. */
export interface OpenMedia {
  readonly filename: string;
  readonly content: Blob | AsyncIterable<Uint8Array>;
}

export interface MediaRequest {
  readonly method: 'POST' | 'PATCH';
  readonly headers: Readonly<Record<string, string>>;
  /** Text fields of a form, which go before the media. Without them, the body is the media. */
  readonly fields?: Readonly<Record<string, string>> | undefined;
  readonly media: OpenMedia;
  readonly signal: AbortSignal;
  readonly onProgress: Progress | undefined;
  /** The request fails after so many milliseconds without progress. */
  readonly stallMs: number;
  /** The client's own `fetch`, if it has one. */
  readonly fetch: typeof fetch | undefined;
}

/** What differs between Node and browsers. */
export interface Platform<Source> {
  /** @throws the signal's reason, or the source's error */
  open(source: Source, filename: string | undefined, signal: AbortSignal): Promise<OpenMedia>;
  /** Sends media. A redirect is an error. */
  send(address: string, request: MediaRequest): Promise<Response>;
}

/** The bytes as a Blob, if they are in memory. */
export function inMemory(source: unknown): Blob | undefined {
  if (source instanceof Blob) return source;
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return new Blob([source as Uint8Array<ArrayBuffer>]);
  return undefined;
}

/** The name under which a source is sent; the service does not rely on it. */
export function filenameOf(source: unknown, filename: string | undefined): string {
  return filename ?? (source instanceof File && source.name ? source.name : 'media');
}

/** The source of an upload failed while it was read; `cause` is its error. */
export class SourceError extends Error {
  override readonly name = 'SourceError';

  constructor(cause: unknown) {
    super('The media cannot be read.', { cause });
  }
}

/** @throws TypeError for a chunk of a stream that is not bytes */
export function requireBytes(chunk: unknown): asserts chunk is Uint8Array<ArrayBuffer> {
  if (!(chunk instanceof Uint8Array)) throw new TypeError('Chunks of a stream must be bytes (Uint8Array).');
}
