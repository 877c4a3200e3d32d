import { isIP, isIPv4, isIPv6 } from 'node:net';

/**
 * The IP address in an item of `X-Forwarded-For`, as proxies write it: with a port (`203.0.113.8:40001`, `[2001:db8::1]:40001`), brackets
 * or a zone (`fe80::1%eth0`). An IPv4 address within IPv6 (RFC 4291 section 2.5.5.2; RFC 6052, `64:ff9b::/96`) becomes that of IPv4.
 * @returns undefined for anything else: `unknown`, a name
 */
export function parseAddress(text: string): string | undefined {
  const [, bracketed] = /^\[([^\]]*)\](?::\d*)?$/.exec(text) ?? [];
  const [, withPort] = /^([\d.]+):\d*$/.exec(text) ?? [];
  const address = (bracketed ?? withPort ?? text).replace(/%.*$/s, '');
  if (!isIPv6(address)) return isIPv4(address) && bracketed === undefined ? address : undefined;
  const groups = groupsOf(address);
  const prefix = groups.slice(0, 6).join(':');
  if (prefix !== '0:0:0:0:0:ffff' && prefix !== '64:ff9b:0:0:0:0') return address;
  return groups
    .slice(6)
    .flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255])
    .join('.');
}

/**
 * The network of one client: an IPv4 address, or the /56 of an IPv6 address, which providers give to one line (RIPE-690). Returns any other text
 * unchanged.
 */
export function networkOf(text: string): string {
  const address = parseAddress(text) ?? text;
  if (isIP(address) !== 6) return address;
  const [first, second, third, fourth = ''] = groupsOf(address);
  const subnets = Number.parseInt(fourth, 16) & 0xff00;
  return `${[first, second, third, subnets.toString(16)].join(':')}::/56`;
}

/** The eight groups of an IPv6 address, as short as they can be. */
function groupsOf(address: string): string[] {
  // WHATWG URL spells each address in one way, and has no zones.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const [first, last] = [head, tail ?? ''].map((part) => part.split(':').filter(Boolean)) as [string[], string[]];
  return [...first, ...Array<string>(8 - first.length - last.length).fill('0'), ...last];
}
