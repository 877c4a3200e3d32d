import { Refusal } from '../answer/refusals.ts';
import { parametersOf } from './header-parameters.ts';

/**
 * The boundary of a multipart/form-data Content-Type (RFC 2046 section 5.1.1: 1 to 70 characters). Clients that should quote
 * it and do not (`boundary=----=_Part_1`) are understood, and so are those that copied RFC 1867's comma.
 * @throws Refusal `form_malformed`
 */
export function boundaryOf(contentType = ''): string {
  const [boundary = '', ...others] = parametersOf(contentType).get('boundary') ?? [];
  const isForm = /^multipart\/form-data\s*[;,]/i.test(contentType);
  if (!isForm || others.length > 0 || !/^[\x20-\x7e]{0,69}[\x21-\x7e]$/.test(boundary))
    throw new Refusal('form_malformed');
  return boundary;
}
