import type { IncomingHttpHeaders } from 'node:http';
import type { RotatedSecret } from '@echodrop/service/env';
import type { RequestHandler, Response } from 'express';
import { type Session, SessionSeals } from './session-seals.ts';

/** The header with which a page of the site asks for the session of its browser. Other sites need the permission of CORS to send it. */
export const sessionHeader = 'X-Echodrop-Session';

// Browsers accept 4,096 bytes of name and value, and servers 8 KiB of cookies.
const maxCookieLength = 3800;
const maxCookies = 2;

/**
 * The sessions of people who have signed in on the site. Their browsers keep them in cookies that no script reads, and send them only if a page of
 * the site asks for it (docs/decisions/browser-sessions.md).
 */
export class BrowserSessions {
  readonly #seals: SessionSeals;
  readonly #siteOrigin: string;
  readonly #names: readonly string[];

  /** `siteOrigin`: the origin of the site's pages. */
  constructor(secret: RotatedSecret, siteOrigin: string) {
    this.#seals = new SessionSeals(secret);
    this.#siteOrigin = siteOrigin;
    // A browser accepts the prefix only from the same host over HTTPS, so that no neighbouring host can plant a session.
    const prefix = siteOrigin.startsWith('https:') ? '__Host-' : '';
    this.#names = Array.from({ length: maxCookies }, (_, n) => `${prefix}echodrop-session-${n}`);
  }

  /** The session of a request by a page of the site; undefined if the page does not ask for it, or has none. */
  of(headers: IncomingHttpHeaders): Session | undefined {
    const isAsked = headers[sessionHeader.toLowerCase()] !== undefined;
    if (!isAsked || !this.isFromSite(headers)) return undefined;
    const cookies = new Map((headers.cookie ?? '').split(/; */).map((each) => splitOnce(each)));
    const sealed = this.#names.map((name) => cookies.get(name) ?? '').join('');
    return this.#seals.open(sealed);
  }

  /** Whether a page of the site sent a request, by headers that scripts cannot set (Fetch standard, Fetch Metadata). */
  isFromSite({ origin, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean {
    return origin === undefined ? site === 'same-origin' : origin === this.#siteOrigin;
  }

  /** Adds the cookies of a session to a response. @returns whether the session fits into them */
  keep(session: Session, response: Response): boolean {
    const sealed = this.#seals.seal(session);
    if (sealed.length > maxCookieLength * maxCookies) return false;
    for (const [n, name] of this.#names.entries()) {
      const part = sealed.slice(n * maxCookieLength, (n + 1) * maxCookieLength);
      this.#setCookie(response, name, part, part === '' ? 0 : session.endsAt - Date.now());
    }
    return true;
  }

  /** Removes the session from the browser. */
  end(response: Response): void {
    for (const name of this.#names) this.#setCookie(response, name, '', 0);
  }

  #setCookie(response: Response, name: string, value: string, maxAge: number): void {
    const secure = this.#siteOrigin.startsWith('https:');
    response.cookie(name, value, { path: '/', httpOnly: true, sameSite: 'strict', secure, maxAge });
  }
}

/** Gives requests with a session the headers of version 2, unless they have credentials of their own. */
export function useSession(sessions: BrowserSessions): RequestHandler {
  return ({ headers }, _response, next) => {
    const hasProof = headers.authorization !== undefined || headers['x-verify-credentials-authorization'] !== undefined;
    const session = hasProof ? undefined : sessions.of(headers);
    if (session) {
      headers['x-auth-service-provider'] = session.provider;
      headers['x-verify-credentials-authorization'] = `Bearer ${session.token}`;
    }
    next();
  };
}

function splitOnce(cookie: string): [name: string, value: string] {
  const end = cookie.indexOf('=');
  return [cookie.slice(0, Math.max(0, end)), cookie.slice(end + 1)];
}
