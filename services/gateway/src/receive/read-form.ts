import { Refusal } from '../response/refusal-error.ts';
import type { FormContent } from './form-content.ts';
import { partKind } from './part-headers.ts';

const maxHeaderBytes = 16 * 1024;
// Dashes and padding after a delimiter.
const maxPaddingBytes = 256;
const crlf = Buffer.from('\r\n');
const endOfHeaders = Buffer.from('\r\n\r\n');
const [cr = 0] = crlf;
const empty = Buffer.alloc(0);

/** Receives the parts of a form in order. Its errors end the reading. */
type FormSink = Pick<FormContent, 'begin' | 'content' | 'end'>;

/**
 * Parses a multipart body as it arrives, and refuses an incomplete or malformed one, unlike libraries, which drop parts with malformed
 * headers (docs/decisions/forms-and-responses.md). Historic mode accepts a last delimiter without closing dashes, and media of `Content-Disposition: file`.
 */
export class FormReader {
  readonly #delimiter: Buffer;
  readonly #isHistoric: boolean;
  readonly #sink: FormSink;
  // Bytes that may begin a delimiter. The first delimiter may begin the body.
  #tail: Buffer = crlf;
  #state: 'preamble' | 'headers' | 'content' | 'epilogue' = 'preamble';
  /** The rest of the delimiter's line and the headers, if they came in pieces. */
  #headers = empty;
  #headersLength = 0;
  /** Where the delimiter's line ended and the headers begin; 0 until then. */
  #headersBegin = 0;
  #parts = 0;

  constructor(boundary: string, compatibility: 'strict' | 'historic', sink: FormSink) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
    this.#isHistoric = compatibility === 'historic';
    this.#sink = sink;
  }

  /** Reads the next bytes of the body. @throws Refusal `form_malformed`, or the error of the sink */
  read(chunk: Buffer): void {
    // Avoids a copy: most forms begin with their first delimiter.
    const isFirst =
      this.#tail === crlf && chunk.subarray(0, this.#delimiter.length - 2).equals(this.#delimiter.subarray(2));
    if (isFirst) this.#delimit();
    const bytes = isFirst ? chunk.subarray(this.#delimiter.length - 2) : concat(this.#tail, chunk);
    let at = 0;
    for (let found = bytes.indexOf(this.#delimiter); found >= 0; found = bytes.indexOf(this.#delimiter, at)) {
      this.#take(bytes.subarray(at, found));
      this.#delimit();
      at = found + this.#delimiter.length;
    }
    const rest = bytes.subarray(at);
    // A boundary has no CR: only the last CR may begin a delimiter that continues in the next chunk.
    const last = rest.lastIndexOf(cr);
    const end = last >= 0 && this.#delimiter.indexOf(rest.subarray(last)) === 0 ? last : rest.length;
    this.#take(rest.subarray(0, end));
    this.#tail = end < rest.length ? rest.subarray(end) : empty;
  }

  /** The body has ended. @throws Refusal `form_malformed` */
  end(): void {
    this.#take(this.#tail);
    const lastLine = this.#headers.toString('latin1', 0, this.#headersLength);
    const isForgiven = this.#isHistoric && this.#parts > 0 && /^(\r\n)?$/.test(lastLine);
    const isAtEnd = this.#state === 'headers' && (isForgiven || /^--[ \t]*\r?$/.test(lastLine));
    if (this.#state === 'preamble') throw new Refusal('form_malformed', { message: 'noDelimiter' });
    if (this.#state !== 'epilogue' && !isAtEnd) throw new Refusal('form_malformed', { message: 'incomplete' });
  }

  #take(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (this.#state === 'content') this.#sink.content(bytes);
    if (this.#state !== 'headers') return;
    const known = this.#headersLength;
    const all = known > 0 ? this.#keepHeaders(bytes) : bytes;
    const isWhole = this.#takeHeaders(all, known);
    if (!isWhole && known === 0) this.#keepHeaders(bytes);
  }

  #delimit(): void {
    if (this.#state === 'epilogue') return;
    if (this.#state === 'headers') throw new Refusal('form_malformed', { message: 'boundary' });
    if (this.#state === 'content') this.#sink.end();
    this.#state = 'headers';
    this.#headersLength = 0;
    this.#headersBegin = 0;
  }

  /** Takes headers and content from the bytes since the delimiter, `known` of them searched before. False for incomplete headers. */
  #takeHeaders(bytes: Buffer, known: number): boolean {
    if (this.#headersBegin === 0 && !this.#endsLine(bytes)) return false;
    if (this.#state === 'epilogue') return true;
    const end = bytes.indexOf(endOfHeaders, Math.max(this.#headersBegin, known - 3));
    if ((end < 0 ? bytes.length : end + 4) > maxHeaderBytes)
      throw new Refusal('form_malformed', { message: 'headers' });
    if (end < 0) return false;
    const part = partKind(bytes.toString('latin1', this.#headersBegin, end), this.#isHistoric);
    this.#parts += 1;
    this.#state = 'content';
    this.#headers = empty;
    this.#headersLength = 0;
    this.#sink.begin(part);
    this.#take(bytes.subarray(end + endOfHeaders.length));
    return true;
  }

  /** Whether the delimiter's line has ended; with dashes, the form has ended too. @throws Refusal `form_malformed` */
  #endsLine(bytes: Buffer): boolean {
    const end = bytes.subarray(0, maxPaddingBytes).indexOf(crlf);
    const line = bytes.toString('latin1', 0, end < 0 ? maxPaddingBytes : end);
    const isLine =
      end < 0 ? line.length < maxPaddingBytes && /^-{0,2}[ \t]*\r?$/.test(line) : /^(--)?[ \t]*$/.test(line);
    if (!isLine) throw new Refusal('form_malformed', { message: 'boundary' });
    if (line.startsWith('--') && end >= 0) this.#state = 'epilogue';
    else if (end >= 0) this.#headersBegin = end + crlf.length;
    return end >= 0;
  }

  // Doubles the buffer, so that single bytes are not copied each time.
  #keepHeaders(bytes: Buffer): Buffer {
    const length = this.#headersLength + bytes.length;
    if (length > this.#headers.length) {
      const larger = Buffer.allocUnsafe(2 * length);
      this.#headers.copy(larger, 0, 0, this.#headersLength);
      this.#headers = larger;
    }
    bytes.copy(this.#headers, this.#headersLength);
    this.#headersLength = length;
    return this.#headers.subarray(0, length);
  }
}

function concat(before: Buffer, bytes: Buffer): Buffer {
  return before.length > 0 ? Buffer.concat([before, bytes]) : bytes;
}
