import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FormRequest, OpenMedia, Progress } from './platform.ts';

/** A stream failed while it was sent; `cause` is its error. */
class SourceError extends Error {
  override readonly name = 'SourceError';
}

type Form = Pick<FormRequest, 'fields' | 'media' | 'onProgress'> & { readonly onFailure: (cause: unknown) => void };

/** Posts a form, which it streams. */
export async function postForm(address: string, { headers, signal, fetch: own, ...form }: FormRequest) {
  const failure = new AbortController();
  const { type, ...body } = formOf({ ...form, onFailure: (cause) => failure.abort(cause) });
  const send = own ?? fetch;
  return send(address, {
    method: 'POST',
    headers: { ...headers, ...(type && { 'Content-Type': type }) },
    redirect: 'error',
    signal: AbortSignal.any([signal, failure.signal]),
    ...body,
  });
}

type FormBody = Pick<RequestInit, 'body' | 'duplex'> & { readonly type?: string };

function formOf({ fields, media, onProgress = () => {}, onFailure }: Form): FormBody {
  const { filename, content } = media;
  if (!(content instanceof Blob)) return streamedForm(fields, { filename, content }, onProgress);
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set('media', measuredFile(content, filename, onProgress, onFailure));
  return { body: form };
}

/** A file of known length that reports how far it has been read, and if it cannot be read. */
function measuredFile(content: Blob, filename: string, progress: Progress, onFailure: Form['onFailure']): File {
  const stream = () => {
    let sent = 0;
    const measure = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        sent += chunk.byteLength;
        progress(sent, content.size);
        controller.enqueue(chunk);
      },
    });
    // Only an abort ends a request: an error of its body leaves it waiting, and is an unhandled rejection (Node 24).
    content.stream().pipeTo(measure.writable, { preventAbort: true }).catch(onFailure);
    return measure.readable;
  };
  return Object.assign(new File([content], filename), { stream });
}

// FormData needs to know a length. This body has none, and goes in chunks.
function streamedForm(
  fields: FormRequest['fields'],
  { filename, content }: OpenMedia & { readonly content: AsyncIterable<Uint8Array> },
  progress: Progress,
): FormBody {
  const boundary = `echodrop-${randomBytes(16).toString('hex')}`;
  const disposition = (name: string) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"`;
  async function* parts(): AsyncGenerator<Uint8Array> {
    for (const [name, value] of Object.entries(fields))
      yield Buffer.from(`${disposition(name)}\r\n\r\n${value.replace(/\r?\n|\r/g, '\r\n')}\r\n`);
    const type = 'Content-Type: application/octet-stream';
    yield Buffer.from(`${disposition('media')}; filename="${escaped(filename)}"\r\n${type}\r\n\r\n`);
    let sent = 0;
    try {
      for await (const chunk of content) {
        sent += chunk.byteLength;
        progress(sent, undefined);
        yield chunk;
      }
    } catch (cause) {
      throw new SourceError('The stream cannot be read.', { cause });
    }
    yield Buffer.from(`\r\n--${boundary}--\r\n`);
  }
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    body: Readable.toWeb(Readable.from(parts(), { objectMode: false })),
    duplex: 'half',
  };
}

// The Fetch standard, "multipart/form-data encoding algorithm".
function escaped(filename: string): string {
  return filename.replace(/["\r\n]/g, encodeURIComponent);
}
