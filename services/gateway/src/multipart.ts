import type { IncomingHttpHeaders } from 'node:http';
import type { Readable, Writable } from 'node:stream';
import busboy from 'busboy';
import { Refusal } from './refusals.ts';

const maxFieldBytes = 64 * 1024;
const maxParts = 100;

/** What the parameters of both versions are called (INTERFACE sections 4.1, 4.2). */
export const fieldNames = [
  'key',
  'message',
  'consumer_token',
  'consumer_secret',
  'oauth_token',
  'oauth_secret',
] as const;
export type FieldName = (typeof fieldNames)[number];

interface Found {
  readonly field: (name: FieldName, value: string) => void;
  /** The media's bytes, cut at `maxMediaBytes`; they must be consumed to their end. `tooLarge` is called when they are cut. */
  readonly media: (bytes: Readable) => void;
  readonly tooLarge: () => void;
}

/**
 * A writable that takes a multipart body and tells what it finds in it. Parts of other names are read and dropped.
 * It is destroyed with `form_malformed` at the first fault that we see, and with an error of busboy's at those that it sees.
 * @throws Refusal `form_malformed` when the headers announce no multipart form
 */
export function multipartParser(headers: IncomingHttpHeaders, maxMediaBytes: number, found: Found): Writable {
  const parser = open(headers, maxMediaBytes);
  const seen = new Set<string>();
  const malformed = () => parser.destroy(new Refusal('form_malformed'));
  const isFirst = (name: string) => {
    if (seen.has(name)) malformed();
    return seen.size < seen.add(name).size;
  };

  parser.on('field', (name, value, { valueTruncated }) => {
    if (valueTruncated) malformed();
    if (name === 'media') isFirst(name);
    if (isFieldName(name) && isFirst(name)) found.field(name, value);
  });
  parser.on('file', (name, bytes) => {
    // A file that is cut off is told by the parser itself.
    bytes.on('error', () => {});
    if (name === 'media' && isFirst(name)) found.media(bytes.on('limit', found.tooLarge));
    else bytes.resume();
  });
  parser.on('partsLimit', malformed);
  return parser;
}

function isFieldName(name: string): name is FieldName {
  return (fieldNames as readonly string[]).includes(name);
}

// Each limit is one more than what is allowed: busboy marks what reaches it (TRAPS, busboy).
function open(headers: IncomingHttpHeaders, maxMediaBytes: number): busboy.Busboy {
  if (!/^multipart\/form-data\s*;/i.test(headers['content-type'] ?? '')) throw new Refusal('form_malformed');
  try {
    const limits = { fieldSize: maxFieldBytes + 1, fileSize: maxMediaBytes + 1, parts: maxParts + 1 };
    return busboy({ headers, limits });
  } catch (error) {
    throw new Refusal('form_malformed', { cause: error });
  }
}
