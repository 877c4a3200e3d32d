import type { IncomingHttpHeaders } from 'node:http';

/**
 * Whether a browser sends this request for a page that is not at `here`. Programs that are no browsers send neither header and are
 * let in. A page under a name with a dot is never believed: whoever owns the name can let it lead here (DNS rebinding).
 */
export function isFromElsewhere(headers: IncomingHttpHeaders, here: URL): boolean {
  const { origin, 'sec-fetch-site': site } = headers;
  if (site !== undefined && site !== 'same-origin') return true;
  if (site === undefined && origin === undefined) return false;
  return (origin !== undefined && URL.parse(origin)?.host !== here.host) || !canHoldForm(here);
}

/** Whether the page at this address may change the sandbox: at an IP address, `localhost` or a name without a dot. */
export function canHoldForm({ hostname }: URL): boolean {
  return /^(?:\[.*\]|\d+(?:\.\d+){3}|(?:.+\.)?localhost|[^.]+)$/.test(hostname);
}
