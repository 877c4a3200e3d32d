import { createHmac } from 'node:crypto';

const rfc3986 = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);

export interface Changes {
  readonly secrets?: string;
  readonly query?: readonly [string, string][];
  readonly oauth?: Record<string, string>;
  readonly without?: readonly string[];
}

/** OAuth parameters for a GET of `base`, signed after RFC 5849 without the library that the sandbox uses. */
export function signedFor(
  base: string,
  { secrets = 'sandbox-consumer-secret&sandbox-token-secret', query = [], ...more }: Changes = {},
) {
  const oauth: Record<string, string> = {
    oauth_consumer_key: 'sandbox-consumer',
    oauth_token: '12345-sandbox',
    oauth_signature_method: 'HMAC-SHA1',
    oauth_timestamp: String(Math.floor(Date.now() / 1000)),
    oauth_nonce: crypto.randomUUID(),
    oauth_version: '1.0',
    ...more.oauth,
  };
  for (const name of more.without ?? []) delete oauth[name];
  const normalized = [...Object.entries(oauth), ...query]
    .map(([name, value]) => `${rfc3986(name)}=${rfc3986(value)}`)
    .sort()
    .join('&');
  const text = ['GET', rfc3986(base), rfc3986(normalized)].join('&');
  return { ...oauth, oauth_signature: createHmac('sha1', secrets).update(text).digest('base64') };
}

/** Formats parameters as an Authorization header. */
export function header(parameters: Record<string, string>, separator = ', '): string {
  return `OAuth ${Object.entries(parameters)
    .map(([name, value]) => `${name}="${rfc3986(value)}"`)
    .join(separator)}`;
}
