import StreamSearch from 'streamsearch';
import { partKind } from './part-headers.ts';
import { Refusal } from './refusals.ts';

// busboy's own limit for the headers of a part.
const maxHeaderBytes = 16 * 1024;
const crlf = Buffer.from('\r\n');
const headersEnd = Buffer.from('\r\n\r\n');

/**
 * Passes a multipart body on in the one shape that busboy reads rightly; what is no whole, well-formed form is refused. Left to itself busboy
 * drops a part whose headers it cannot read, and the rest of a file at a line that only begins like a delimiter.
 * In historic mode a last delimiter without its closing dashes ends the form, and media of `Content-Disposition: file` is media.
 * @throws Refusal `form_malformed`
 */
export async function* tidyForm(
  body: AsyncIterable<Buffer>,
  boundary: string,
  compatibility: 'strict' | 'historic',
): AsyncGenerator<Buffer> {
  const form = new FormReader(boundary, compatibility);
  for await (const chunk of body) yield* form.read(chunk);
  yield* form.end();
}

class FormReader {
  readonly #delimiter: Buffer;
  readonly #historic: boolean;
  readonly #search: StreamSearch;
  #tidied: Buffer[] = [];
  #state: 'preamble' | 'headers' | 'content' | 'epilogue' = 'preamble';
  /** After a delimiter: the rest of its line and the headers, as far as they have come. */
  #headers: Buffer = Buffer.alloc(0);
  #parts = 0;

  constructor(boundary: string, compatibility: 'strict' | 'historic') {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
    this.#historic = compatibility === 'historic';
    this.#search = new StreamSearch(this.#delimiter, (found, data, start, end, isDataSafe) => {
      if (data && start < end)
        this.#take(isDataSafe ? data.subarray(start, end) : Buffer.from(data.subarray(start, end)));
      if (found) this.#delimit();
    });
    // The first delimiter may stand at the very beginning.
    this.#search.push(crlf);
  }

  read(chunk: Buffer): Buffer[] {
    this.#search.push(chunk);
    return this.#tidied.splice(0);
  }

  end(): Buffer[] {
    this.#search.destroy();
    if (this.#state === 'headers' && this.#endsHere(this.#headers.toString('latin1'))) this.#close();
    if (this.#state !== 'epilogue') throw new Refusal('form_malformed');
    return this.#tidied.splice(0);
  }

  #endsHere(lastLine: string): boolean {
    return /^--[ \t]*\r?$/.test(lastLine) || (this.#historic && this.#parts > 0 && /^(\r\n)?$/.test(lastLine));
  }

  #take(bytes: Buffer): void {
    if (this.#state === 'content') this.#tidied.push(bytes);
    if (this.#state === 'headers') this.#takeHeaders(Buffer.concat([this.#headers, bytes]));
  }

  #delimit(): void {
    if (this.#state === 'epilogue') return;
    if (this.#state === 'headers') throw new Refusal('form_malformed');
    this.#state = 'headers';
    this.#headers = Buffer.alloc(0);
  }

  #takeHeaders(bytes: Buffer): void {
    this.#headers = bytes;
    const text = bytes.toString('latin1', 0, maxHeaderBytes);
    const line = /^(--)?[ \t]*\r\n/.exec(text)?.[0];
    if (line?.startsWith('--')) {
      this.#close();
      return;
    }
    const start = (line?.length ?? 0) - crlf.length;
    const end = line ? bytes.indexOf(headersEnd, start) : -1;
    const isDelimiterLine = line !== undefined || /^-{0,2}[ \t]*\r?$/.test(text);
    if (!isDelimiterLine || (end < 0 ? bytes.length : end) > maxHeaderBytes) throw new Refusal('form_malformed');
    if (end >= 0) {
      this.#begin(bytes.toString('latin1', start + crlf.length, end), bytes.subarray(end + headersEnd.length));
    }
  }

  #begin(headers: string, content: Buffer): void {
    const part = partKind(headers, this.#historic);
    if (!part) throw new Refusal('form_malformed');
    const filename = part.content === 'file' ? '; filename="file"' : '';
    // Names are compared, never kept: what would need escaping names nothing of ours.
    const name = part.name.replace(/[^\w-]/g, '?');
    this.#tidied.push(
      this.#delimiter,
      Buffer.from(
        `\r\nContent-Disposition: form-data; name="${name}"${filename}\r\nContent-Type: text/${part.content}\r\n\r\n`,
      ),
    );
    this.#parts += 1;
    this.#state = 'content';
    if (content.length > 0) this.#tidied.push(content);
  }

  #close(): void {
    this.#tidied.push(this.#delimiter, Buffer.from('--\r\n'));
    this.#state = 'epilogue';
  }
}
