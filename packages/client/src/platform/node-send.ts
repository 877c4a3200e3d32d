import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { readBody } from '../read-body.ts';
import { type MediaRequest, type OpenMedia, requireBytes, SourceError } from './platform.ts';
import { type StallTimer, stallTimer } from './stall-timer.ts';

// A larger chunk is cut, and counts as progress several times.
const pieceBytes = 256 * 1024;
const empty = Buffer.alloc(0);

/** Sends media, which it streams. */
export async function sendMedia(
  address: string,
  { method, headers, signal, fetch: own, stallMs, ...content }: MediaRequest,
): Promise<Response> {
  const failure = new AbortController();
  const stall = stallTimer(stallMs, (cause) => failure.abort(cause));
  // Only an abort ends a request: an error of its body leaves it waiting, and is an unhandled rejection (Node 24).
  const { type, body } = bodyOf({ ...content, stall }, (cause) => failure.abort(cause));
  const ended = AbortSignal.any([signal, failure.signal]);
  const send = own ?? fetch;
  try {
    const response = await send(address, {
      method,
      headers: { ...type, ...headers },
      // With `manual`, undici tees the body and keeps what was sent in memory.
      redirect: 'error',
      signal: ended,
      body,
      duplex: 'half',
    });
    stall.restart();
    return new Response((await readBody(response, ended)) || null, response);
  } finally {
    stall.end();
    closeUnread(content.media);
  }
}

// fetch leaves a stream open if it could not connect.
function closeUnread({ content }: OpenMedia): void {
  if (content instanceof Readable) content.destroy();
  else if (content instanceof ReadableStream && !content.locked) content.cancel().catch(() => {});
}

interface Content extends Pick<MediaRequest, 'fields' | 'media' | 'onProgress'> {
  readonly stall: StallTimer;
}

/**
 * The body as a Blob, whose length fetch sends, or as a stream, which goes in chunks. A FormData is read whole into memory, and a response
 * that comes early, or an abort, then ends the process (undici 7.29 of Node 24).
 */
function bodyOf({ fields, media, onProgress, stall }: Content, onFailure: (cause: unknown) => void) {
  const { content } = media;
  const { type, head, tail } = fields ? formAround(fields, media.filename) : { type: {}, head: empty, tail: empty };
  const isBlob = content instanceof Blob;
  async function* parts(): AsyncGenerator<Uint8Array> {
    stall.restart();
    yield head;
    let sent = 0;
    try {
      for await (const piece of piecesOf(isBlob ? content.stream() : content, stall)) {
        sent += piece.byteLength;
        onProgress?.(sent, isBlob ? content.size : undefined);
        yield piece;
      }
    } catch (cause) {
      const isUnreadable = cause instanceof Error && cause.name === 'NotReadableError';
      onFailure(isUnreadable ? cause : new SourceError(cause));
      return;
    }
    stall.restart();
    yield tail;
  }
  const stream = () => streamOf(parts());
  return { type, body: isBlob ? Object.assign(new Blob([head, content, tail]), { stream }) : stream() };
}

/** Cuts up large chunks. The timer runs while one is sent, not while the source is read, which may be slow. */
async function* piecesOf(source: AsyncIterable<Uint8Array>, stall: StallTimer): AsyncGenerator<Uint8Array> {
  stall.stop();
  for await (const chunk of source) {
    requireBytes(chunk);
    for (let at = 0; at < chunk.byteLength; at += pieceBytes) {
      stall.restart();
      yield chunk.subarray(at, at + pieceBytes);
    }
    stall.stop();
  }
}

/** What a form has before and after the media. */
function formAround(fields: Readonly<Record<string, string>>, filename: string) {
  const boundary = `echodrop-${randomBytes(16).toString('hex')}`;
  const disposition = (name: string) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"`;
  const texts = Object.entries(fields).map(
    ([name, value]) => `${disposition(name)}\r\n\r\n${value.replace(/\r?\n|\r/g, '\r\n')}\r\n`,
  );
  const mediaType = 'Content-Type: application/octet-stream';
  const head = `${texts.join('')}${disposition('media')}; filename="${escapeName(filename)}"\r\n${mediaType}\r\n\r\n`;
  return {
    type: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
    head: Buffer.from(head),
    tail: Buffer.from(`\r\n--${boundary}--\r\n`),
  };
}

// Node's adapters end the process if a response comes while a source is read (Node 24).
function streamOf(parts: AsyncGenerator<Uint8Array>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await parts.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await parts.return(undefined);
    },
  });
}

// The Fetch standard, "multipart/form-data encoding algorithm".
function escapeName(filename: string): string {
  return filename.replace(/["\r\n]/g, encodeURIComponent);
}
