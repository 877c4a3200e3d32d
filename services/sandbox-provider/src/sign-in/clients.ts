import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';

/** The client of OpenID Connect: it has no secret, and any redirect URI on loopback. */
export const publicClientId = 'echodrop';

const maxClients = 1000;
const clientMs = 30 * 86_400_000;

export interface Client {
  readonly id: string;
  /** Undefined for a public client. */
  readonly secret: string | undefined;
  readonly name: string;
  readonly redirectUris: readonly string[] | 'loopback';
  readonly scope: string;
}

const redirectUri = z
  .string()
  .max(2000)
  .refine((uri) => parseRedirectUri(uri) !== undefined);

/** `POST /api/v1/apps` of Mastodon. */
export const registration = z.object({
  client_name: z.string().min(1).max(200),
  redirect_uris: z
    .union([z.array(z.string()), z.string().transform((lines) => lines.split('\n').filter(Boolean))])
    .pipe(z.array(redirectUri).min(1).max(10)),
  scopes: z
    .string()
    .regex(/^[\w:.]+(?: [\w:.]+)*$/)
    .max(500)
    .default('read'),
  website: z.string().max(2000).optional(),
});

/** Applications that may sign users in. Beyond 1000 it forgets the oldest. */
export class Clients {
  readonly #registered = new LRUCache<string, Client>({ max: maxClients, ttl: clientMs });
  readonly #publicClient: Client;

  constructor(siteName: string) {
    this.#publicClient = {
      id: publicClientId,
      secret: undefined,
      name: siteName,
      redirectUris: 'loopback',
      scope: 'openid profile',
    };
  }

  register({ client_name: name, redirect_uris: redirectUris, scopes: scope }: z.output<typeof registration>): Client {
    const id = randomBytes(32).toString('base64url');
    const secret = randomBytes(32).toString('base64url');
    const client = { id, secret, name, redirectUris, scope };
    this.#registered.set(id, client);
    return client;
  }

  find(id: string): Client | undefined {
    return id === publicClientId ? this.#publicClient : this.#registered.get(id);
  }
}

/** Whether a redirect URI is one of the client's: exactly, but on loopback with any port (RFC 8252, section 7.3). */
export function allowsRedirect({ redirectUris }: Client, given: string): boolean {
  const url = parseRedirectUri(given);
  if (!url) return false;
  if (redirectUris === 'loopback') return isLoopback(url);
  if (redirectUris.includes(given)) return true;
  return isLoopback(url) && redirectUris.some((each) => withoutPort(new URL(each)) === withoutPort(url));
}

function parseRedirectUri(uri: string): URL | undefined {
  const url = /^https?:\/\/[!-~]+$/.test(uri) ? URL.parse(uri) : undefined;
  return url && url.username + url.password === '' && !uri.includes('#') ? url : undefined;
}

function isLoopback({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(hostname);
}

function withoutPort({ protocol, hostname, pathname, search }: URL): string {
  return [protocol, hostname, pathname, search].join(' ');
}
