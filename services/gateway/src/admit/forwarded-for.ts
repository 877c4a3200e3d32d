import type { IncomingHttpHeaders } from 'node:http';
import { parseAddress } from '@echodrop/service/ip-address';

/**
 * Spells `X-Forwarded-For` as Express reads it: IP addresses without ports. What precedes an item that is none (`unknown`) is dropped, because
 * no proxy vouches for it: the client is then the peer that wrote it.
 */
export function spellForwardedFor(headers: IncomingHttpHeaders): void {
  const header = headers['x-forwarded-for']?.toString();
  if (header === undefined) return;
  const items = header
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
  const addresses = items.map((item) => parseAddress(item));
  const known = addresses.slice(addresses.lastIndexOf(undefined) + 1);
  if (known.length > 0) headers['x-forwarded-for'] = known.join(', ');
  else delete headers['x-forwarded-for'];
}
