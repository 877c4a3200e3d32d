import { z } from 'zod';

/** What a client sent to prove its user (docs/interface.md section 5). Version 2: the header value, byte for byte, and the provider's address. */
export type Credentials = z.infer<typeof credentialsShape>;

export const credentialsShape = z.discriminatedUnion('version', [
  z.object({ version: z.literal(2), provider: z.string(), authorization: z.string() }),
  z.object({
    version: z.literal(1),
    consumerToken: z.string(),
    consumerSecret: z.string(),
    oauthToken: z.string(),
    oauthSecret: z.string(),
  }),
]);

/** Who asks to be verified, from where. */
export type VerificationRequest = z.infer<typeof verificationRequestShape>;

export const verificationRequestShape = z.object({
  credentials: credentialsShape,
  /** The client's address as the gateway knows it, to tell a repeat from a replay; empty where there is none. */
  clientAddress: z.string(),
});

/** A user as a provider knows them. */
export type ProviderUser = z.infer<typeof providerUserShape>;

export const providerUserShape = z.object({ provider: z.string(), subject: z.string() });

/** The verified user. Whose something is goes by provider and subject; `userId` is what the interface shows. */
export type Caller = z.infer<typeof callerShape>;

const callerShape = z.object({
  /** The provider's advertised address. */
  provider: z.string(),
  /** The user's id as the provider sent it. */
  subject: z.string(),
  /** On the wire a string of digits, since JSON's readers spoil large numbers. */
  userId: z.codec(z.string().regex(/^-?\d{1,20}$/), z.bigint(), {
    decode: (digits) => BigInt(digits),
    encode: (id) => id.toString(),
  }),
  screenName: z.string(),
});

/** What the identity provider said; a value, whichever it is. A verifier that cannot be asked is an exception instead. */
export type Verdict = z.infer<typeof verdictShape>;

export const verdictShape = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('verified'), caller: callerShape }),
  z.object({ outcome: z.literal('refused') }),
  z.object({ outcome: z.literal('provider_unknown') }),
  z.object({ outcome: z.literal('provider_unavailable'), retryAfterSeconds: z.number().int().min(1) }),
]);

/** The advertised addresses that may stand in X-Auth-Service-Provider, the first one first. */
export const providersShape = z.array(z.string());

/** Where the verifier answers, and how much it reads of a question: four secrets of 64 KiB each may be six times as long as JSON. */
export const verifyPath = '/verify';
export const providersPath = '/providers';
export const forgetPath = '/forget';
export const maxRequestBytes = 2 * 1024 * 1024;

/** The path of the wire that `url` is; undefined for every other. */
export function verificationRoute(url: string | undefined): string | undefined {
  return [verifyPath, providersPath, forgetPath].find((path) => path === url);
}
