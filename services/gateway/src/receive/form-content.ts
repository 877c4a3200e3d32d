import { isAscii, isUtf8 } from 'node:buffer';
import { maxAltCharacters } from '@echodrop/record';
import { Refusal } from '../response/refusal-error.ts';
import { type FieldName, isFieldName, type PartKind, secretNames } from './part-headers.ts';
import type { ReceivedMedia } from './received-media.ts';
import { ReceivedNames } from './received-names.ts';

/** The longest caption, in bytes. */
export const maxFieldBytes = 64 * 1024;
/** The longest key or secret, in bytes. An anonymous sender can keep all of them in memory, in up to twice as many bytes. */
export const maxSecretBytes = 4096;
const maxParts = 100;

/** Called after each field with all fields so far. */
export type OnField = (fields: ReadonlyMap<FieldName, string>) => void;

/** The content of a form so far: decoded text fields, and the media. Other parts are dropped. Disposing disposes of the media. */
export class FormContent implements AsyncDisposable {
  readonly fields = new Map<FieldName, string>();
  /** Parameters of the wrong kind, which are dropped: text that came as a file, with the sign of that, or media that came as text. */
  readonly misplaced = new Map<string, string>();
  readonly received = new ReceivedNames();
  media: ReceivedMedia | undefined;
  readonly #receiveMedia: () => ReceivedMedia;
  readonly #onField: OnField | undefined;
  readonly #seen = new Set<string>();
  #parts = 0;
  #part: PartKind = { name: '', content: 'file' };
  // As latin1: chunks of one byte would take a hundred times as much memory as Buffers.
  #text = '';
  #pieces = 0;

  constructor(receiveMedia: () => ReceivedMedia, onField?: OnField) {
    this.#receiveMedia = receiveMedia;
    this.#onField = onField;
  }

  /** @throws Refusal `form_malformed` for a repeated parameter, and for too many parts */
  begin(part: PartKind): void {
    const { name, content, sign = '' } = part;
    const isFile = content === 'file';
    const isParameter = isFieldName(name) ? !isFile : name === 'media';
    this.#part = part;
    this.#parts += 1;
    this.#text = '';
    if (this.#parts > maxParts)
      throw new Refusal('form_malformed', { message: 'tooMany', values: { limit: maxParts } });
    if (isParameter && this.#seen.has(name))
      throw new Refusal('form_malformed', { message: 'repeated', values: { name } });
    if (isParameter) this.#seen.add(name);
    if (isFile ? isFieldName(name) : name === 'media') this.misplaced.set(name, sign);
    this.received.add(name);
  }

  /** @throws Refusal `form_malformed` for a text that is too long */
  content(bytes: Buffer): void {
    if (this.#part.content !== 'file') this.#addText(bytes);
    else if (this.#part.name === 'media') {
      this.media ??= this.#receiveMedia();
      this.media.write(bytes);
    }
    if (this.#text.length <= maxSecretBytes) return;
    const { name } = this.#part;
    const maxBytes = isKeyOrSecret(name) ? maxSecretBytes : maxFieldBytes;
    if (this.#text.length <= maxBytes) return;
    throw name === 'media' ? mediaSentAsText() : tooLong(name, `${count(maxBytes)} bytes`);
  }

  /** @throws Refusal `form_malformed` for a text that cannot be read, or an alternative text that is too long */
  end(): void {
    const { name, content } = this.#part;
    if (content === 'file') {
      if (name === 'media') this.media?.end();
    } else if (isFieldName(name)) {
      const text = decode(name, this.#text, content);
      if (name === 'alt') requireFittingAlt(text);
      this.fields.set(name, text);
      this.#onField?.(this.fields);
    }
  }

  // V8 keeps concatenated strings as a tree, with 32 bytes for each, until they are copied.
  #addText(bytes: Buffer): void {
    this.#text += bytes.toString('latin1');
    this.#pieces += 1;
    if (this.#pieces % 1024 === 0) this.#text = Buffer.from(this.#text, 'latin1').toString('latin1');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.media?.[Symbol.asyncDispose]();
  }
}

function isKeyOrSecret(name: string): boolean {
  return name === 'key' || secretNames.some((secret) => secret === name);
}

function decode(name: string, latin1: string, charset: 'utf-8' | 'ascii'): string {
  const bytes = Buffer.from(latin1, 'latin1');
  const isValid = charset === 'ascii' ? isAscii(bytes) : isUtf8(bytes);
  if (!isValid) throw new Refusal('form_malformed', { message: 'encoding', values: { name } });
  return bytes.toString();
}

/** @throws Refusal `form_malformed` for an alternative text that is too long */
export function requireFittingAlt(text: string): void {
  // Browsers send each line break as CRLF, and count one character.
  if ([...text.replaceAll('\r\n', '\n')].length > maxAltCharacters)
    throw tooLong('alt', `${count(maxAltCharacters)} characters`);
}

/** 400 for media without a file name. */
export function mediaSentAsText(): Refusal {
  return new Refusal('parameter_missing', { message: 'sentAsText', values: { name: 'media' } });
}

function count(number: number): string {
  return number.toLocaleString('en-GB');
}

function tooLong(name: string, limit: string): Refusal {
  return new Refusal('form_malformed', { message: 'tooLong', values: { name, limit } });
}
