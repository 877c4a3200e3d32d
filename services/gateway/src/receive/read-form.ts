import { Refusal } from '../answer/refusals.ts';
import { type PartKind, partKind } from './part-headers.ts';

const maxHeaderBytes = 16 * 1024;
// Of the line of a delimiter: dashes and padding.
const maxPaddingBytes = 256;
const crlf = Buffer.from('\r\n');
const endOfHeaders = Buffer.from('\r\n\r\n');
const [cr = 0] = crlf;
const nothing = Buffer.alloc(0);

/** Whoever hears what a form holds, in its order. What it throws ends the reading. */
export interface FormListener {
  /** A part begins; the bytes that follow are its content. */
  readonly begin: (part: PartKind) => void;
  readonly content: (bytes: Buffer) => void;
  /** The part that began last has ended. */
  readonly end: () => void;
}

/**
 * Reads a multipart body as it comes; what is no whole, well-formed form is refused. Libraries drop a part whose headers they cannot read
 * (docs/decisions/012).
 * In historic mode a last delimiter without its closing dashes ends the form, and media of `Content-Disposition: file` is media.
 */
export class FormReader {
  readonly #delimiter: Buffer;
  readonly #historic: boolean;
  readonly #listener: FormListener;
  // What may be the beginning of a delimiter: the first one may stand at the very beginning of the body.
  #tail: Buffer = crlf;
  #state: 'preamble' | 'headers' | 'content' | 'epilogue' = 'preamble';
  /** After a delimiter: the rest of its line and the headers, if they came in pieces. */
  #headers = nothing;
  #headersLength = 0;
  /** Where the delimiter's line ended and the headers begin; 0 until then. */
  #headersBegin = 0;
  #parts = 0;

  constructor(boundary: string, compatibility: 'strict' | 'historic', listener: FormListener) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
    this.#historic = compatibility === 'historic';
    this.#listener = listener;
  }

  /** Reads the next bytes of the body. @throws Refusal `form_malformed`, or what the listener throws */
  read(chunk: Buffer): void {
    // Mostly the form begins with its first delimiter, and nothing need be copied.
    const isFirst =
      this.#tail === crlf && chunk.subarray(0, this.#delimiter.length - 2).equals(this.#delimiter.subarray(2));
    if (isFirst) this.#delimit();
    const bytes = isFirst ? chunk.subarray(this.#delimiter.length - 2) : joined(this.#tail, chunk);
    let at = 0;
    for (let found = bytes.indexOf(this.#delimiter); found >= 0; found = bytes.indexOf(this.#delimiter, at)) {
      this.#take(bytes.subarray(at, found));
      this.#delimit();
      at = found + this.#delimiter.length;
    }
    const rest = bytes.subarray(at);
    // A boundary holds no CR: only the last one may begin a delimiter that goes on in the next chunk.
    const last = rest.lastIndexOf(cr);
    const end = last >= 0 && this.#delimiter.indexOf(rest.subarray(last)) === 0 ? last : rest.length;
    this.#take(rest.subarray(0, end));
    this.#tail = end < rest.length ? rest.subarray(end) : nothing;
  }

  /** The body has ended. @throws Refusal `form_malformed` */
  end(): void {
    this.#take(this.#tail);
    const lastLine = this.#headers.toString('latin1', 0, this.#headersLength);
    const isForgiven = this.#historic && this.#parts > 0 && /^(\r\n)?$/.test(lastLine);
    const isAtEnd = this.#state === 'headers' && (isForgiven || /^--[ \t]*\r?$/.test(lastLine));
    if (this.#state !== 'epilogue' && !isAtEnd) throw new Refusal('form_malformed');
  }

  #take(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (this.#state === 'content') this.#listener.content(bytes);
    if (this.#state !== 'headers') return;
    const known = this.#headersLength;
    const all = known > 0 ? this.#keepHeaders(bytes) : bytes;
    const isWhole = this.#takeHeaders(all, known);
    if (!isWhole && known === 0) this.#keepHeaders(bytes);
  }

  #delimit(): void {
    if (this.#state === 'epilogue') return;
    if (this.#state === 'headers') throw new Refusal('form_malformed');
    if (this.#state === 'content') this.#listener.end();
    this.#state = 'headers';
    this.#headersLength = 0;
    this.#headersBegin = 0;
  }

  /**
   * Takes the headers, and the content behind them.
   * @param bytes all that has come since the delimiter
   * @param known how many of them were looked at before: senders may send them one by one
   * @returns whether they have come whole
   */
  #takeHeaders(bytes: Buffer, known: number): boolean {
    if (this.#headersBegin === 0 && !this.#endsLine(bytes)) return false;
    if (this.#state === 'epilogue') return true;
    const end = bytes.indexOf(endOfHeaders, Math.max(this.#headersBegin, known - 3));
    if ((end < 0 ? bytes.length : end + 4) > maxHeaderBytes) throw new Refusal('form_malformed');
    if (end < 0) return false;
    const part = partKind(bytes.toString('latin1', this.#headersBegin, end), this.#historic);
    if (!part) throw new Refusal('form_malformed');
    this.#parts += 1;
    this.#state = 'content';
    this.#headers = nothing;
    this.#headersLength = 0;
    this.#listener.begin(part);
    this.#take(bytes.subarray(end + endOfHeaders.length));
    return true;
  }

  /** Whether the line of the delimiter has ended; with dashes the form has. @throws Refusal `form_malformed` */
  #endsLine(bytes: Buffer): boolean {
    const end = bytes.subarray(0, maxPaddingBytes).indexOf(crlf);
    const line = bytes.toString('latin1', 0, end < 0 ? maxPaddingBytes : end);
    const isLine =
      end < 0 ? line.length < maxPaddingBytes && /^-{0,2}[ \t]*\r?$/.test(line) : /^(--)?[ \t]*$/.test(line);
    if (!isLine) throw new Refusal('form_malformed');
    if (line.startsWith('--') && end >= 0) this.#state = 'epilogue';
    else if (end >= 0) this.#headersBegin = end + crlf.length;
    return end >= 0;
  }

  // In memory that doubles: bytes that come one by one are not copied each time.
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

// Most chunks follow nothing that waits, and are not copied.
function joined(before: Buffer, bytes: Buffer): Buffer {
  return before.length > 0 ? Buffer.concat([before, bytes]) : bytes;
}
