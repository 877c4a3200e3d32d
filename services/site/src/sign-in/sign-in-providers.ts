import { scopeFault } from '@echodrop/contracts/sign-in';
import { httpOrigin, text } from '@echodrop/service/env';
import { z } from 'zod';

// Kept as it is: the gateway compares advertised addresses as strings.
const address = z.string().refine((value) => isPlainAddress(value), 'must be an http(s) address');

const common = {
  name: z.string().regex(/^\S(?:.{0,58}\S)?$/u, 'must be 1 to 60 characters, without spaces around them'),
  provider: address,
  scope: z.string().optional(),
  /** Further origins that the browser queries. */
  origins: z.array(httpOrigin()).max(10).default([]),
};

const provider = z
  .discriminatedUnion('profile', [
    z.strictObject({ ...common, profile: z.literal('mastodon') }),
    z.strictObject({
      ...common,
      profile: z.literal('oidc'),
      issuer: address,
      clientId: z.string().regex(/^[\x21-\x7e]{1,256}$/, 'must be 1 to 256 visible ASCII characters'),
    }),
  ])
  .superRefine(({ profile, scope }, context) => {
    const message = scope === undefined ? undefined : scopeFault(profile, scope);
    if (message !== undefined) context.addIssue({ code: 'custom', path: ['scope'], message });
  });

const providers = z
  .array(provider)
  .max(20)
  .superRefine((all, context) => {
    for (const [i, { provider }] of all.entries())
      if (all.findIndex((other) => other.provider === provider) < i)
        context.addIssue({ code: 'custom', path: [i, 'provider'], message: 'is a duplicate' });
  });

/** A provider at which people sign in on this site. `provider` is its advertised address. */
export type SignInProvider = z.output<typeof provider>;

/** A JSON array of providers; reports every fault of every entry, without values. */
export const signInProviders = text()
  .transform((json, context): readonly SignInProvider[] => {
    const { data, error } = providers.safeParse(parseJson(json), { error: withoutValues });
    for (const { path, message } of error?.issues ?? [])
      context.addIssue(`is invalid: ${z.core.toDotPath(path) || 'its content'} ${message}`);
    return data ?? z.NEVER;
  })
  .default([]);

function withoutValues({ code, input, expected, path = [] }: z.core.$ZodRawIssue): string {
  if (code === 'unrecognized_keys') return 'has an unknown field';
  if (code === 'invalid_union') return `must be mastodon or oidc`;
  if (path.length === 0) return code === 'invalid_type' ? 'is not a JSON array' : 'has more than 20 entries';
  if (code === 'invalid_type') return input === undefined ? 'is required' : `must be of type ${expected}`;
  return 'is invalid';
}

function isPlainAddress(value: string): boolean {
  if (!/^https?:\/\/[!-~]+$/.test(value) || !URL.canParse(value)) return false;
  const { username, password, hash } = new URL(value);
  return username + password + hash === '';
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
