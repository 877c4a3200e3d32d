import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import { commaSeparated } from './env.ts';
import { parseAddress } from './ip-address.ts';
import { isNetwork } from './shared-settings.ts';

export const trustedProxySettings = {
  TRUSTED_PROXIES: commaSeparated('')
    .refine((proxies) => proxies.every(isAddressOrNetwork), 'must be addresses or networks (10.0.0.0/8)')
    .describe(
      'comma-separated IP addresses and networks whose `X-Forwarded-For` is trusted: [your proxies](../host/tls.md#requirements)',
    ),
};

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

// The network of all addresses (`/0`) would trust every client.
function isAddressOrNetwork(entry: string): boolean {
  return isIP(entry) !== 0 || (isNetwork(entry) && !entry.endsWith('/0'));
}
