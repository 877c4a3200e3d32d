import { z } from 'zod';

/**
 * A client's proof of its user (docs/reference/interface.md section 5). Version 2: the header value byte for byte, and the provider's address;
 * without an address, the only provider that accepts the scheme.
 */
export type Credentials = z.infer<typeof credentialsShape>;

const credentialsShape = z.discriminatedUnion('version', [
  z.object({ version: z.literal(2), provider: z.string().optional(), authorization: z.string() }),
  z.object({
    version: z.literal(1),
    consumerToken: z.string(),
    consumerSecret: z.string(),
    oauthToken: z.string(),
    oauthSecret: z.string(),
  }),
]);

export type VerificationRequest = z.infer<typeof verificationRequestShape>;

export const verificationRequestShape = z.object({
  credentials: credentialsShape,
  /** The client's address; empty if unknown. Networks share the queries of a provider fairly. */
  clientAddress: z.string(),
});

export type ProviderUser = z.infer<typeof providerUserShape>;

export const providerUserShape = z.object({ provider: z.string(), subject: z.string() });

/** The verified user, identified by provider and subject; `userId` is for display. */
export type Caller = z.infer<typeof callerShape>;

const callerShape = z.object({
  /** The provider's advertised address. */
  provider: z.string(),
  /** The user's id as the provider sent it. */
  subject: z.string(),
  /** A string of digits on the wire: JSON parsers round large numbers. */
  userId: z.codec(z.string().regex(/^-?\d{1,20}$/), z.bigint(), {
    decode: (digits) => BigInt(digits),
    encode: (id) => id.toString(),
  }),
  screenName: z.string(),
});

export type Verdict = z.infer<typeof verdictShape>;

export const verdictShape = z.discriminatedUnion('outcome', [
  z.object({ outcome: z.literal('verified'), caller: callerShape }),
  // `cause`: `unsupported_scheme` if the provider was not queried. Other releases may send other causes.
  z.object({ outcome: z.literal('refused'), cause: z.string().optional() }),
  z.object({ outcome: z.literal('provider_unknown') }),
  z.object({ outcome: z.literal('provider_unavailable'), retryAfterSeconds: z.number().int().min(1) }),
  // Too many verifications run, so the provider was not queried. `isOwnShare`: they are of the same sender. Older releases do not send it.
  z.object({
    outcome: z.literal('overloaded'),
    retryAfterSeconds: z.number().int().min(1),
    isOwnShare: z.boolean().optional(),
  }),
]);

/** The addresses accepted in X-Auth-Service-Provider, in order. */
export const providersShape = z.array(z.string());

export const verifyPath = '/verify';
export const providersPath = '/providers';
export const forgetPath = '/forget';
/** Four secrets of 64 KiB each, which JSON may make six times as long. */
export const maxRequestBytes = 2 * 1024 * 1024;

/** The path for traces; undefined for any other `url`. */
export function verificationRoute(url: string | undefined): string | undefined {
  return [verifyPath, providersPath, forgetPath].find((path) => path === url);
}
