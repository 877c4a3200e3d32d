import { readAuthorization } from '@echodrop/oauth/authorization-header';
import { signatureOf } from '@echodrop/oauth/signed-get';
import { LRUCache } from 'lru-cache';
import type { Grants } from './sign-in/grants.ts';
import type { Accounts, SandboxUser } from './users.ts';

export type ProofFault =
  | 'missing'
  | 'malformed'
  | 'unknown_credentials'
  | 'signature_invalid'
  | 'timestamp_off'
  | 'nonce_reused';

/** A request and its proof of the user. */
interface Proof {
  readonly method: string;
  /** The address that the client requested and signed, with its query. */
  readonly url: URL;
  readonly authorization: string | undefined;
  /** Unix time by the sandbox's clock. */
  readonly nowSeconds: number;
}

export type ProofCheck = (proof: Proof) => SandboxUser | ProofFault;

/** Checks bearer tokens in the Authorization header (RFC 6750, section 2.1): those of the accounts, and issued ones. */
export function createBearerCheck({ users }: Accounts, { tokens }: Pick<Grants, 'tokens'>): ProofCheck {
  const byToken = new Map(users.flatMap((user) => user.bearerTokens.map((token) => [token, user] as const)));
  return ({ authorization = '' }) => {
    if (!/^Bearer(?: |$)/i.test(authorization)) return 'missing';
    const [, token] = /^Bearer +([\w.~+/-]+=*)$/i.exec(authorization) ?? [];
    return token === undefined ? 'malformed' : (byToken.get(token) ?? tokens.get(token)?.user ?? 'unknown_credentials');
  };
}

const maxSkewSeconds = 5 * 60;
const maxNonces = 10_000;

/** Checks HMAC-SHA1 signatures of OAuth 1.0a (RFC 5849), and that each nonce is used once. Beyond 10,000 nonces it forgets the oldest. */
export function createSignatureCheck({ consumers, users }: Accounts): ProofCheck {
  const consumerSecrets = new Map(consumers.map(({ key, secret }) => [key, secret]));
  const tokens = new Map(
    users.flatMap((user) => user.oauthTokens.map(({ token, secret }) => [token, { user, secret }] as const)),
  );
  const usedNonces = new LRUCache<string, true>({ max: maxNonces, ttl: 2 * maxSkewSeconds * 1000 });
  return ({ method, url, authorization, nowSeconds }) => {
    if (authorization === undefined) return 'missing';
    const parameters = readParameters(authorization, url);
    if (!parameters) return 'malformed';
    const { oauth_signature: signature = '', ...signed } = parameters;
    const { oauth_consumer_key: consumer = '', oauth_token: token = '', oauth_timestamp: timestamp } = signed;
    const consumerSecret = consumerSecrets.get(consumer);
    const owned = tokens.get(token);
    if (consumerSecret === undefined || !owned) return 'unknown_credentials';

    const secrets = { consumerSecret, tokenSecret: owned.secret };
    // Its secrets are public, so the time of the comparison reveals nothing.
    if (signatureOf({ method, address: url.href, parameters: signed }, secrets) !== signature)
      return 'signature_invalid';
    if (Math.abs(nowSeconds - Number(timestamp)) > maxSkewSeconds) return 'timestamp_off';

    // RFC 5849 section 3.3: a nonce is unique for its consumer, token and timestamp.
    const nonce = JSON.stringify([consumer, token, timestamp, signed['oauth_nonce']]);
    if (usedNonces.has(nonce)) return 'nonce_reused';
    usedNonces.set(nonce, true);
    return owned.user;
  };
}

function readParameters(authorization: string, url: URL): Readonly<Record<string, string>> | undefined {
  const parameters = readAuthorization(authorization);
  const isValid =
    parameters?.get('oauth_signature_method') === 'HMAC-SHA1' &&
    (parameters.get('oauth_version') ?? '1.0') === '1.0' &&
    /^[1-9]\d{0,11}$/.test(parameters.get('oauth_timestamp') ?? '') &&
    parameters.get('oauth_nonce') !== undefined &&
    ![...url.searchParams.keys()].some((name) => name.startsWith('oauth_'));
  return isValid ? Object.fromEntries(parameters) : undefined;
}
