import type { IncomingHttpHeaders } from 'node:http';
import { mediaTypeOf } from '../receive/header-parameters.ts';

const bytesType = 'application/offset+octet-stream';

/** Whether a body has the type of the protocol (tus 1.0.0, "PATCH"). */
export function hasBytesType(headers: IncomingHttpHeaders): boolean {
  return mediaTypeOf(headers['content-type']) === bytesType;
}

/**
 * The headers of the protocol as `@tus/server` compares them. HTTP allows media types in any case and with parameters, and white space and
 * empty items in lists (RFC 9110 sections 5.6.1 and 8.3.1); some clients send Base64 without padding. The library refuses values of others
 * that proxies send.
 */
export function tusHeaders(headers: IncomingHttpHeaders): [name: string, value: string][] {
  return Object.entries(headers).flatMap(([name, value]) =>
    /^(tus-|upload-|content-)/.test(name) ? [[name, spell(name, `${value}`)]] : [],
  );
}

/** `Upload-Metadata` with one space within pairs, none around them, and padded Base64. */
export function spellMetadata(header: string): string {
  const pairs = header.split(',').map((pair) => pair.trim().split(/[ \t]+/));
  return pairs
    .filter(([name]) => name !== '')
    .map(([name, ...values]) => [name, ...values.map(padBase64)].join(' '))
    .join(',');
}

/** Base64 as RFC 4648 pads it. */
export function padBase64(text: string): string {
  return text.includes('=') ? text : text.padEnd(Math.ceil(text.length / 4) * 4, '=');
}

function spell(name: string, value: string): string {
  if (name === 'content-type') return mediaTypeOf(value);
  return name === 'upload-metadata' ? spellMetadata(value) : value;
}
