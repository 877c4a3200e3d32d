import { Refusal } from './refusals.ts';

const parameter = /;\s*boundary\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;,\s]*))/i;

/**
 * The boundary of a multipart/form-data Content-Type (RFC 2046 section 5.1.1: 1 to 70 characters). Clients that should quote
 * it and do not (`boundary=----=_Part_1`) are understood.
 * @throws Refusal `form_malformed`
 */
export function boundaryOf(contentType: string | undefined): string {
  if (!/^multipart\/form-data\s*;/i.test(contentType ?? '')) throw new Refusal('form_malformed');
  const [, quoted, plain] = parameter.exec(contentType ?? '') ?? [];
  const boundary = quoted?.replace(/\\(.)/g, '$1') ?? plain ?? '';
  if (!/^[\x20-\x7e]{0,69}[\x21-\x7e]$/.test(boundary)) throw new Refusal('form_malformed');
  return boundary;
}
