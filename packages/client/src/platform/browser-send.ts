import { UnreadableResponse } from '../client-errors.ts';
import { maxBodyBytes, tooLarge } from '../read-body.ts';
import {
  filenameOf,
  inMemory,
  type MediaRequest,
  type MediaSource,
  type OpenMedia,
  requireBytes,
  SourceError,
} from './platform.ts';
import { stallTimer } from './stall-timer.ts';

// These are the parts of the DOM that this file uses. Node's types do not contain them.
interface Xhr {
  status: number;
  response: ArrayBuffer;
  responseType: string;
  responseURL: string;
  readonly upload: { onprogress: ((event: { loaded: number; total: number }) => void) | null };
  onprogress: ((event: { loaded: number }) => void) | null;
  onload: (() => void) | null;
  onerror: (() => void) | null;
  onabort: (() => void) | null;
  open(method: string, address: string): void;
  setRequestHeader(name: string, value: string): void;
  getAllResponseHeaders(): string;
  send(body: FormData | Blob): void;
  abort(): void;
}

/** Opens media for sending. A stream is read to its end first, because browsers cannot send one. */
export async function openMedia(
  source: MediaSource,
  filename: string | undefined,
  signal: AbortSignal,
): Promise<OpenMedia> {
  const content = inMemory(source) ?? (await readStream(requireStream(source), signal));
  return { filename: filenameOf(source, filename), content };
}

async function readStream(stream: ReadableStream, signal: AbortSignal): Promise<Blob> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const keeper = new WritableStream({
    write(chunk) {
      requireBytes(chunk);
      chunks.push(chunk);
    },
  });
  await stream.pipeTo(keeper, { signal }).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw new SourceError(cause);
  });
  return new Blob(chunks);
}

function requireStream(source: unknown): ReadableStream {
  if (source instanceof ReadableStream) return source;
  throw new TypeError('Media must be bytes, a Blob, or a stream of bytes.');
}

/** Sends media. Only XMLHttpRequest reports progress, so a custom fetch reports none until its end, and can stall. */
export async function sendMedia(address: string, request: MediaRequest): Promise<Response> {
  const { method, headers, fields, media, signal, onProgress, fetch: own } = request;
  const { content, filename } = media as OpenMedia & { readonly content: Blob };
  const body = fields ? formOf(fields, content, filename) : content;
  // Service workers have no XMLHttpRequest.
  const hasXhr = Reflect.has(globalThis, 'XMLHttpRequest');
  if (!own && hasXhr) return sendMeasured(address, { ...request, body, size: content.size });
  const response = await (own ?? fetch)(address, { method, headers, body, redirect: 'error', signal });
  onProgress?.(content.size, content.size);
  return response;
}

function formOf(fields: Readonly<Record<string, string>>, content: Blob, filename: string): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set('media', content, filename);
  return form;
}

interface Measured extends Pick<MediaRequest, 'method' | 'headers' | 'signal' | 'onProgress' | 'stallMs'> {
  readonly body: FormData | Blob;
  readonly size: number;
}

function sendMeasured(
  address: string,
  { method, headers, signal, onProgress, stallMs, body, size }: Measured,
): Promise<Response> {
  const xhr: Xhr = new (Reflect.get(globalThis, 'XMLHttpRequest') as new () => Xhr)();
  const abort = () => xhr.abort();
  let endStall = () => {};
  return new Promise<Response>((resolve, reject) => {
    signal.throwIfAborted();
    const stall = stallTimer(stallMs, (error) => {
      reject(error);
      abort();
    });
    endStall = stall.end;
    stall.restart();
    signal.addEventListener('abort', abort);
    xhr.open(method, address);
    xhr.responseType = 'arraybuffer';
    for (const [name, value] of Object.entries(headers)) xhr.setRequestHeader(name, value);
    // The form's other parts come first, and are not counted.
    xhr.upload.onprogress = ({ loaded, total }) => {
      stall.restart();
      onProgress?.(Math.max(0, size - (total - loaded)), size);
    };
    xhr.onprogress = ({ loaded }) => {
      stall.restart();
      if (loaded <= maxBodyBytes) return;
      reject(tooLarge(maxBodyBytes));
      abort();
    };
    xhr.onload = () => {
      if (xhr.responseURL !== new URL(address).href) reject(new UnreadableResponse('The service redirects.'));
      // What a listener throws, as the constructor does for some statuses, rejects nothing.
      else resolve(Promise.resolve(xhr).then(responseOf));
    };
    xhr.onerror = () => reject(new TypeError('The connection failed.'));
    xhr.onabort = () => reject(signal.reason);
    xhr.send(body);
  }).finally(() => {
    endStall();
    signal.removeEventListener('abort', abort);
  });
}

function responseOf(xhr: Xhr): Response {
  const { status, response } = xhr;
  return new Response([204, 205, 304].includes(status) ? null : response, { status, headers: headersOf(xhr) });
}

function headersOf(xhr: Xhr): Headers {
  const lines = xhr.getAllResponseHeaders().split('\r\n').filter(Boolean);
  return new Headers(
    lines.map((line): [string, string] => [line.split(':', 1)[0] ?? '', line.replace(/^[^:]*: ?/, '')]),
  );
}
