import { UsageError } from '../command-context.ts';

/** Whether an address is plain HTTP on this machine, where no one else can read or change the traffic. */
export function isPlainHttpLoopback(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'http:' && /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}

/** @throws UsageError for plain HTTP to another machine, where others could read the token */
export function requireSecure(what: string, address: string, advice = ''): void {
  if (new URL(address).protocol !== 'https:' && !isPlainHttpLoopback(address))
    throw new UsageError(`The URL of the ${what} must start with https:// (${address}). ${advice}`.trimEnd());
}
