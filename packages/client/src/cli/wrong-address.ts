import { once } from 'node:events';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import { isUnsent, RequestRefused, ServiceUnreachable, UnreadableResponse } from '../client-errors.ts';
import { UsageError } from './command-context.ts';
import { fetchSiteSettings } from './sign-in/site-settings.ts';

const maxHandshakeMs = 5000;

/** The error of a request to `service`, or one that names the address to use if `service` is a site, or its port expects TLS. */
export async function explainAddress(error: unknown, service: string): Promise<unknown> {
  if (isStatus(error, [404, 405]) || error instanceof UnreadableResponse) {
    const settings = await fetchSiteSettings(service).catch(() => undefined);
    if (settings && settings.upload !== service)
      return new UsageError(
        `${service} is the site with the pages. Its upload service has the address ${settings.upload}: pass that with --url or ECHODROP_URL.`,
      );
  }
  if (isStatus(error, [400]) || (error instanceof ServiceUnreachable && !isUnsent(error))) {
    const { protocol, port, hostname, host } = new URL(service);
    if (protocol === 'http:' && (await expectsTls(hostname, Number(port || 80))))
      return new UsageError(`${host} expects TLS: pass an address with https:// with --url or ECHODROP_URL.`);
  }
  return error;
}

/** Whether a program other than the service has sent one of these statuses. */
function isStatus(error: unknown, statuses: readonly number[]): boolean {
  return error instanceof RequestRefused && error.reason === 'unknown' && statuses.includes(error.status);
}

async function expectsTls(hostname: string, port: number): Promise<boolean> {
  const host = hostname.replace(/^\[|\]$/g, '');
  // Nothing is sent.
  const socket = connect({ host, port, rejectUnauthorized: false, ...(isIP(host) === 0 && { servername: host }) });
  try {
    await once(socket, 'secureConnect', { signal: AbortSignal.timeout(maxHandshakeMs) });
    return true;
  } catch {
    return false;
  } finally {
    socket.on('error', () => {}).destroy();
  }
}
