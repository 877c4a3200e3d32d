import busboy from 'busboy';
import type { PartKind } from './part-headers.ts';
import type { FormListener } from './read-form.ts';
import { Refusal } from './refusals.ts';

/** The longest text of a field. */
export const maxFieldBytes = 64 * 1024;
const maxParts = 100;

/** What the parameters of both versions are called (INTERFACE sections 4.1, 4.2). */
const fieldNames = ['key', 'message', 'consumer_token', 'consumer_secret', 'oauth_token', 'oauth_secret'] as const;
export type FieldName = (typeof fieldNames)[number];

interface Found {
  readonly field: (name: FieldName, value: string) => void;
  readonly media: (bytes: Buffer) => void;
  readonly mediaEnd: () => void;
  /** A file stands where a text belongs; it is dropped. */
  readonly fileInstead: (name: FieldName) => void;
  /** busboy could not read a field. */
  readonly failed: (error: Error) => void;
}

/**
 * Tells what a form holds. busboy reads the text fields, from parts in the one shape that it reads rightly; the bytes of the media pass it by,
 * and those of other files are dropped.
 */
export class MultipartParser implements FormListener {
  readonly #boundary: string;
  readonly #found: Found;
  readonly #busboy: busboy.Busboy;
  readonly #seen = new Set<string>();
  #current: 'media' | 'text' | 'dropped' = 'dropped';

  constructor(boundary: string, found: Found) {
    this.#boundary = boundary;
    this.#found = found;
    // Each limit is one more than what is allowed: busboy marks what reaches it (TRAPS, busboy). Text is decoded by us, since
    // busboy replaces what is no UTF-8.
    this.#busboy = busboy({
      headers: { 'content-type': `multipart/form-data; boundary="${boundary.replace(/["\\]/g, '\\$&')}"` },
      limits: { fieldSize: maxFieldBytes + 1, parts: maxParts + 1 },
      defCharset: 'latin1',
    });
    this.#busboy.on('field', (name, value, { valueTruncated, mimeType }) => {
      if (valueTruncated) throw new Refusal('form_malformed');
      if (isFieldName(name)) found.field(name, decoded(value, mimeType));
    });
    // Their bytes do not come here.
    this.#busboy.on('file', (_name, bytes) => bytes.resume());
    this.#busboy.on('partsLimit', () => {
      throw new Refusal('form_malformed');
    });
    this.#busboy.on('error', (error: Error) => found.failed(error));
  }

  /** @throws Refusal `form_malformed` at a parameter's second part, and at the part before this one where its text cannot be read */
  begin({ name, content }: PartKind): void {
    const isFile = content === 'file';
    // Names are compared, never kept: what would need escaping names nothing of ours.
    const disposition = `form-data; name="${name.replace(/[^\w-]/g, '?')}"${isFile ? '; filename="file"' : ''}`;
    this.#write(`\r\nContent-Disposition: ${disposition}\r\nContent-Type: text/${content}\r\n\r\n`);
    if (name === 'media' || (isFieldName(name) && !isFile)) this.#requireFirst(name);
    this.#current = isFile ? (name === 'media' ? 'media' : 'dropped') : 'text';
    if (isFile && isFieldName(name)) this.#found.fileInstead(name);
  }

  content(bytes: Buffer): void {
    if (this.#current === 'media') this.#found.media(bytes);
    else if (this.#current === 'text') this.#busboy.write(bytes);
  }

  end(): void {
    if (this.#current === 'media') this.#found.mediaEnd();
  }

  /** The form was whole. Resolves once busboy has read all fields. @throws Refusal `form_malformed` */
  async finish(): Promise<void> {
    this.#write('--\r\n');
    await new Promise<void>((resolve, reject) => {
      this.#busboy.end((cause?: Error | null) =>
        cause ? reject(new Refusal('form_malformed', { cause })) : resolve(),
      );
    });
  }

  #write(afterDelimiter: string): void {
    this.#busboy.write(Buffer.from(`\r\n--${this.#boundary}${afterDelimiter}`, 'latin1'));
  }

  #requireFirst(name: string): void {
    if (this.#seen.has(name)) throw new Refusal('form_malformed');
    this.#seen.add(name);
  }
}

/** Whether a part of this name is one of the parameters that are text. */
export function isFieldName(name: string): name is FieldName {
  return (fieldNames as readonly string[]).includes(name);
}

// The part's type says what the text claims to be; of another charset than UTF-8 only what is the same in both is read.
function decoded(latin1: string, mimeType: string): string {
  try {
    if (mimeType === 'text/ascii' && /[\x80-\xff]/.test(latin1)) throw new TypeError('not ASCII');
    return utf8.decode(Buffer.from(latin1, 'latin1'));
  } catch (cause) {
    throw new Refusal('form_malformed', { cause });
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
