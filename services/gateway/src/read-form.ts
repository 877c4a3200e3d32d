import { type PartKind, partKind } from './part-headers.ts';
import { Refusal } from './refusals.ts';

const maxHeaderBytes = 16 * 1024;
const crlf = Buffer.from('\r\n');
const [cr = 0, lf = 0] = crlf;

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
  /** After a delimiter: the rest of its line and the headers, as far as they have come. */
  #headers: Buffer = Buffer.alloc(0);
  #parts = 0;

  constructor(boundary: string, compatibility: 'strict' | 'historic', listener: FormListener) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
    this.#historic = compatibility === 'historic';
    this.#listener = listener;
  }

  /** Reads the next bytes of the body. @throws Refusal `form_malformed`, or what the listener throws */
  read(chunk: Buffer): void {
    const bytes = joined(this.#tail, chunk);
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
    this.#tail = rest.subarray(end);
  }

  /** The body has ended. @throws Refusal `form_malformed` */
  end(): void {
    this.#take(this.#tail);
    const lastLine = this.#headers.toString('latin1');
    const isForgiven = this.#historic && this.#parts > 0 && /^(\r\n)?$/.test(lastLine);
    const isAtEnd = this.#state === 'headers' && (isForgiven || /^--[ \t]*\r?$/.test(lastLine));
    if (this.#state !== 'epilogue' && !isAtEnd) throw new Refusal('form_malformed');
  }

  #take(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (this.#state === 'content') this.#listener.content(bytes);
    if (this.#state !== 'headers') return;
    this.#headers = joined(this.#headers, bytes);
    // Only the end of a line can end them: a look at each byte's coming would cost the square of their length.
    if (bytes.includes(lf) || this.#headers.length >= maxHeaderBytes) this.#takeHeaders(this.#headers);
  }

  #delimit(): void {
    if (this.#state === 'epilogue') return;
    if (this.#state === 'headers') throw new Refusal('form_malformed');
    if (this.#state === 'content') this.#listener.end();
    this.#state = 'headers';
    this.#headers = Buffer.alloc(0);
  }

  #takeHeaders(bytes: Buffer): void {
    const text = bytes.toString('latin1', 0, maxHeaderBytes);
    if (/^--[ \t]*\r\n/.test(text)) {
      this.#state = 'epilogue';
      return;
    }
    const [whole = '', headers] = /^[ \t]*\r\n(.*?)\r\n\r\n/s.exec(text) ?? [];
    const mayGoOn = text.length < maxHeaderBytes && /^(-{0,2}[ \t]*\r?$|[ \t]*\r\n)/.test(text);
    if (headers === undefined && mayGoOn) return;
    const part = headers === undefined ? undefined : partKind(headers, this.#historic);
    if (!part) throw new Refusal('form_malformed');
    this.#parts += 1;
    this.#state = 'content';
    this.#listener.begin(part);
    this.#take(bytes.subarray(whole.length));
  }
}

// Most chunks follow nothing that waits, and are not copied.
function joined(before: Buffer, bytes: Buffer): Buffer {
  return before.length > 0 ? Buffer.concat([before, bytes]) : bytes;
}
