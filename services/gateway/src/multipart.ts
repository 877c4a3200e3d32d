import type { Readable, Writable } from 'node:stream';
import busboy from 'busboy';
import { Refusal } from './refusals.ts';

/** The longest text of a field. */
export const maxFieldBytes = 64 * 1024;
const maxParts = 100;

/** What the parameters of both versions are called (INTERFACE sections 4.1, 4.2). */
const fieldNames = ['key', 'message', 'consumer_token', 'consumer_secret', 'oauth_token', 'oauth_secret'] as const;
export type FieldName = (typeof fieldNames)[number];

interface Found {
  readonly field: (name: FieldName, value: string) => void;
  /** The media's bytes, cut at `maxMediaBytes`; they must be consumed to their end. `tooLarge` is called when they are cut. */
  readonly media: (bytes: Readable) => void;
  readonly tooLarge: () => void;
  /** A file stands where a text belongs; it is dropped. */
  readonly fileInstead: (name: FieldName) => void;
}

/**
 * A writable that takes a tidied multipart body (tidy-form.ts) and tells what it finds in it. Parts of other names are read and dropped.
 * It is destroyed with `form_malformed` at the first fault that we see, and with an error of busboy's at those that it sees.
 */
export function multipartParser(boundary: string, maxMediaBytes: number, found: Found): Writable {
  // Each limit is one more than what is allowed: busboy marks what reaches it (TRAPS, busboy). Text is decoded by us, since
  // busboy replaces what is no UTF-8.
  const parser = busboy({
    headers: { 'content-type': `multipart/form-data; boundary="${boundary.replace(/["\\]/g, '\\$&')}"` },
    limits: { fieldSize: maxFieldBytes + 1, fileSize: maxMediaBytes + 1, parts: maxParts + 1 },
    defCharset: 'latin1',
  });
  const seen = new Set<string>();
  const malformed = () => parser.destroy(new Refusal('form_malformed'));
  const isFirst = (name: string) => {
    if (seen.has(name)) malformed();
    return seen.size < seen.add(name).size;
  };

  parser.on('field', (name, value, { valueTruncated, mimeType }) => {
    if (name === 'media') isFirst(name);
    if (!isFieldName(name) || !isFirst(name)) return valueTruncated && malformed();
    const text = decoded(value, mimeType);
    if (valueTruncated || text === undefined) malformed();
    else found.field(name, text);
  });
  parser.on('file', (name, bytes) => {
    // A file that is cut off is told by the parser itself.
    bytes.on('error', () => {});
    if (name === 'media' && isFirst(name)) found.media(bytes.on('limit', found.tooLarge));
    else bytes.resume();
    if (isFieldName(name)) found.fileInstead(name);
  });
  parser.on('partsLimit', malformed);
  return parser;
}

/** Whether a part of this name is one of the parameters that are text. */
export function isFieldName(name: string): name is FieldName {
  return (fieldNames as readonly string[]).includes(name);
}

// The tidied type says what the text claims to be; of another charset than UTF-8 only what is the same in both is read.
function decoded(latin1: string, mimeType: string): string | undefined {
  if (mimeType === 'text/ascii' && /[\x80-\xff]/.test(latin1)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(latin1, 'latin1'));
  } catch {
    return undefined;
  }
}
