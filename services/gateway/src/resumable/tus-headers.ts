import { isUtf8 } from 'node:buffer';
import { createHash, type Hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { mediaTypeOf } from '../receive/header-parameters.ts';
import { type FieldName, isFieldName, secretNames } from '../receive/part-headers.ts';
import { Refusal } from '../response/refusal-error.ts';

/** The headers of a request that the protocol defines (https://tus.io/protocols/resumable-upload, version 1.0.0). */
export interface TusHeaders {
  readonly offset: number | undefined;
  readonly length: number | undefined;
  readonly isLengthDeferred: boolean;
  readonly metadata: Metadata;
  readonly isConcatenation: boolean;
  /** Whether the body is a piece of an upload. */
  readonly hasBytesType: boolean;
  /** Whether the client wants the record in the response to the last byte. */
  readonly prefersRecord: boolean;
}

/** Values in Base64 by name. */
export type Metadata = ReadonlyMap<string, string>;

export const tusVersion = '1.0.0';
/** The algorithms that `Tus-Checksum-Algorithm` names. */
export const checksumAlgorithms = ['sha1', 'sha256', 'md5'] as const;

const bytesType = 'application/offset+octet-stream';
const base64 = /^[A-Za-z\d+/]*={0,2}$/;
const unkept: readonly string[] = ['key', ...secretNames];

/** @throws Refusal `tus_malformed` */
export function tusHeadersOf(headers: IncomingHttpHeaders): TusHeaders {
  const deferred = headers['upload-defer-length']?.toString();
  const metadata = headers['upload-metadata']?.toString();
  return {
    offset: bytesIn(headers, 'Upload-Offset'),
    length: bytesIn(headers, 'Upload-Length'),
    // "Its value MUST be 1."
    isLengthDeferred: deferred !== undefined && (deferred === '1' || refuseHeader('Upload-Defer-Length')),
    metadata: metadata === undefined ? new Map() : parseMetadata(metadata),
    isConcatenation: headers['upload-concat'] !== undefined,
    hasBytesType: mediaTypeOf(headers['content-type']) === bytesType,
    prefersRecord: prefersRepresentation(headers['prefer']?.toString()),
  };
}

/** @throws Refusal `tus_malformed` */
export function refuseHeader(name: string): never {
  throw new Refusal('tus_malformed', { message: 'header', values: { name } });
}

/** The refusal (415) of bytes of another type. */
export function tusContentType(headers: IncomingHttpHeaders): Refusal {
  return new Refusal('tus_content_type', { values: { type: mediaTypeOf(headers['content-type']) || 'missing' } });
}

// "The value MUST be a non-negative integer."
function bytesIn(headers: IncomingHttpHeaders, name: string): number | undefined {
  const value = headers[name.toLowerCase()]?.toString();
  if (value === undefined) return undefined;
  return /^\d+$/.test(value) && `${Number(value)}` === value ? Number(value) : refuseHeader(name);
}

/**
 * Reads `Upload-Metadata`: "one or more comma-separated key-value pairs. The key and value MUST be separated by a space. The key MUST NOT contain
 * spaces and commas and MUST NOT be empty. The key SHOULD be ASCII encoded and the value MUST be Base64 encoded. All keys MUST be unique."
 * "The value MAY be empty." HTTP also allows other white space and empty items (RFC 9110 section 5.6.1), and some clients do not pad Base64.
 * @throws Refusal `tus_malformed`
 */
export function parseMetadata(header: string): Metadata {
  const items = header.split(',').map((item) => item.trim());
  const pairs = items.filter((item) => item !== '').map((item) => item.split(/[ \t]+/));
  const metadata = new Map(pairs.map(([name = '', value = '']) => [name, padBase64(value)]));
  const arePairs = pairs.every(([name = '', ...values]) => /^[\x21-\x7e]+$/.test(name) && values.length <= 1);
  const areBase64 = metadata.values().every((value) => value.length % 4 === 0 && base64.test(value));
  const areUnique = metadata.size === pairs.length;
  if (pairs.length === 0 || !arePairs || !areBase64 || !areUnique)
    throw new Refusal('tus_malformed', { message: 'metadata' });
  return metadata;
}

/** The parameters in `Upload-Metadata`. Other names are ignored. @throws Refusal `tus_malformed` */
export function fieldsOf(metadata: Metadata): Map<FieldName, string> {
  const parameters = new Map<FieldName, string>();
  for (const [name, value] of metadata) {
    if (!isFieldName(name)) continue;
    const bytes = Buffer.from(value, 'base64');
    if (!isUtf8(bytes)) throw new Refusal('tus_malformed', { message: 'metadata' });
    parameters.set(name, bytes.toString());
  }
  return parameters;
}

/** `Upload-Metadata` as the store keeps it and HEAD returns it: without API key and secrets. */
export function keptMetadata(metadata: Metadata): string {
  const kept = [...metadata].filter(([name]) => !unkept.includes(name.toLowerCase()));
  return kept.map(([name, value]) => (value === '' ? name : `${name} ${value}`)).join(',');
}

/**
 * The digest that `Upload-Checksum` announces, if any: "the name of the used checksum algorithm and the Base64 encoded checksum separated by a
 * space". @throws Refusal `checksum_unsupported`
 */
export function announcedDigest(
  headers: IncomingHttpHeaders,
): { readonly hash: Hash; readonly verify: () => void } | undefined {
  const header = headers['upload-checksum']?.toString();
  if (header === undefined) return undefined;
  const [, name = '', digest = ''] = /^(\w+)[ \t]+([\w+/]+={0,2})$/.exec(header) ?? [];
  const algorithm = checksumAlgorithms.find((each) => each === name.toLowerCase());
  if (algorithm === undefined)
    throw new Refusal('checksum_unsupported', { values: { algorithms: checksumAlgorithms.join(', ') } });
  const hash = createHash(algorithm);
  const verify = () => {
    if (hash.digest('base64') !== padBase64(digest)) throw new Refusal('checksum_mismatch');
  };
  return { hash, verify };
}

/** Base64 as RFC 4648 pads it. */
function padBase64(text: string): string {
  return text.includes('=') ? text : text.padEnd(Math.ceil(text.length / 4) * 4, '=');
}

/**
 * Whether a request prefers a representation in the response (RFC 7240, `return`). Of several values the first counts.
 * @param header the value of `Prefer`, joined by commas if it was repeated
 */
export function prefersRepresentation(header = ''): boolean {
  const [, , value] = /(?:^|,)\s*return\s*=\s*("?)([\w-]*)\1\s*(?=[;,]|$)/i.exec(header) ?? [];
  return value?.toLowerCase() === 'representation';
}
