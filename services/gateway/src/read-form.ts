import { type PartKind, partKind } from './part-headers.ts';
import { Refusal } from './refusals.ts';

const maxHeaderBytes = 16 * 1024;
const crlf = Buffer.from('\r\n');
const cr = crlf.readUInt8(0);
const headersEnd = Buffer.from('\r\n\r\n');

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
  // The first delimiter may stand at the very beginning.
  #matched = crlf.length;
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
    let at = this.#matched > 0 ? this.#matchOn(chunk) : 0;
    while (at < chunk.length && this.#state !== 'epilogue') {
      const found = chunk.indexOf(this.#delimiter, at);
      const end = found < 0 ? chunk.length - this.#beginningAtEnd(chunk, at) : found;
      if (end > at) this.#take(chunk.subarray(at, end));
      if (found < 0) return;
      this.#delimit();
      at = found + this.#delimiter.length;
    }
  }

  /** The body has ended. @throws Refusal `form_malformed` */
  end(): void {
    if (this.#matched > 0) this.#take(this.#delimiter.subarray(0, this.#matched));
    if (this.#state === 'headers' && this.#endsHere(this.#headers.toString('latin1'))) this.#state = 'epilogue';
    if (this.#state !== 'epilogue') throw new Refusal('form_malformed');
  }

  // A boundary holds no CR: what may be the beginning of a delimiter goes on as one, or is none from its first byte on.
  #matchOn(chunk: Buffer): number {
    const rest = this.#delimiter.subarray(this.#matched, this.#matched + chunk.length);
    const matched = this.#matched;
    this.#matched = 0;
    if (chunk.compare(rest, 0, rest.length, 0, rest.length) !== 0) {
      this.#take(this.#delimiter.subarray(0, matched));
      return 0;
    }
    if (matched + rest.length < this.#delimiter.length) this.#matched = matched + rest.length;
    else this.#delimit();
    return rest.length;
  }

  // Of a delimiter that may go on in the next chunk: how many of its bytes end this one.
  #beginningAtEnd(chunk: Buffer, from: number): number {
    const at = chunk.lastIndexOf(cr);
    const length = chunk.length - at;
    if (at < from || length >= this.#delimiter.length) return 0;
    if (chunk.compare(this.#delimiter, 0, length, at) !== 0) return 0;
    this.#matched = length;
    return length;
  }

  #endsHere(lastLine: string): boolean {
    return /^--[ \t]*\r?$/.test(lastLine) || (this.#historic && this.#parts > 0 && /^(\r\n)?$/.test(lastLine));
  }

  #take(bytes: Buffer): void {
    if (this.#state === 'content') this.#listener.content(bytes);
    if (this.#state === 'headers') this.#takeHeaders(Buffer.concat([this.#headers, bytes]));
  }

  #delimit(): void {
    if (this.#state === 'epilogue') return;
    if (this.#state === 'headers') throw new Refusal('form_malformed');
    if (this.#state === 'content') this.#listener.end();
    this.#state = 'headers';
    this.#headers = Buffer.alloc(0);
  }

  #takeHeaders(bytes: Buffer): void {
    this.#headers = bytes;
    const text = bytes.toString('latin1', 0, maxHeaderBytes);
    const line = /^(--)?[ \t]*\r\n/.exec(text)?.[0];
    if (line?.startsWith('--')) {
      this.#state = 'epilogue';
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
    this.#parts += 1;
    this.#state = 'content';
    this.#listener.begin(part);
    if (content.length > 0) this.#listener.content(content);
  }
}
