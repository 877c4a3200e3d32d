import { readFileSync } from 'node:fs';
import { parseExactJson } from '@echodrop/record';
import { z } from 'zod';

const smallestId = -(2n ** 63n);
const largestId = 2n ** 64n - 1n;

const credential = z.string().regex(/^[\x21-\x7e]{1,256}$/, 'must be 1 to 256 visible ASCII characters');
const bearerToken = z.string().regex(/^[\w.~+/-]{1,256}=*$/, 'must be a bearer token (RFC 6750, section 2.1)');

// An integer of up to 64 bits, or a string that is not a number.
const id = z.unknown().transform((value, context) => {
  const id = parseId(value);
  if (id !== undefined) return id;
  context.addIssue('must be an integer of at most 64 bits, or a string that is not a number');
  return z.NEVER;
});

const user = z
  .strictObject({
    id,
    screen_name: z.string().regex(/^[\w.-]{1,64}$/, 'must be 1 to 64 letters, digits, dots, hyphens and underscores'),
    name: z.string().min(1).max(100).optional(),
    oauth_tokens: z.array(z.strictObject({ token: credential, secret: credential })).default([]),
    bearer_tokens: z.array(bearerToken).default([]),
  })
  .transform(({ screen_name, name = screen_name, oauth_tokens, bearer_tokens, ...rest }) => ({
    ...rest,
    screenName: screen_name,
    name,
    oauthTokens: oauth_tokens,
    bearerTokens: bearer_tokens,
  }));

const builtInConsumer = { key: 'sandbox-consumer', secret: 'sandbox-consumer-secret' };

const accounts = z.strictObject({
  consumers: z.array(z.strictObject({ key: credential, secret: credential })).default([builtInConsumer]),
  users: z.array(user).min(1),
});

/** Applications that sign with OAuth 1.0a, and users. Nothing here is secret: the page shows everything. */
export type Accounts = z.output<typeof accounts>;
export type SandboxUser = z.output<typeof user>;

/** The default application and user, which docs/reference/settings.md names. */
export const builtInAccounts: Accounts = {
  consumers: [builtInConsumer],
  users: [
    {
      id: 12345n,
      screenName: 'sandbox',
      name: 'Robin',
      oauthTokens: [{ token: '12345-sandbox', secret: 'sandbox-token-secret' }],
      bearerTokens: ['sandbox-bearer'],
    },
  ],
};

/** Reads a JSON file of accounts. @returns them, or the faults as messages to follow the setting's name, without values */
export function readAccounts(path: string): Accounts | readonly string[] {
  try {
    const result = accounts.safeParse(parseExactJson(readFileSync(path, 'utf8')), { error: withoutValues });
    if (!result.success) return result.error.issues.map(({ path: at, message }) => faultAt(at, message));
    const duplicates = findDuplicates(result.data);
    return duplicates.length > 0 ? duplicates : result.data;
  } catch (error) {
    if (error instanceof SyntaxError) return ['is not JSON'];
    return [`cannot be read (${(error as NodeJS.ErrnoException).code})`];
  }
}

function parseId(value: unknown): bigint | string | undefined {
  if (typeof value === 'string') return /^(?!\s*[+-]?\d+\s*$).{1,256}$/su.test(value) ? value : undefined;
  if (typeof value !== 'bigint' && !Number.isSafeInteger(value)) return undefined;
  const integer = BigInt(value as bigint | number);
  return integer >= smallestId && integer <= largestId ? integer : undefined;
}

function withoutValues({ code, input, expected }: z.core.$ZodRawIssue): string {
  if (code === 'unrecognized_keys') return 'has an unknown field';
  if (code === 'invalid_type') return input === undefined ? 'is required' : `must be of type ${expected}`;
  return code === 'too_small' ? 'must not be empty' : 'is too long';
}

function findDuplicates({ consumers, users }: Accounts): string[] {
  const seen = new Set<string>();
  const faults: string[] = [];
  const once = (what: string, value: string, ...path: (string | number)[]) => {
    if (seen.has(`${what} ${value}`)) faults.push(faultAt(path, 'is a duplicate'));
    seen.add(`${what} ${value}`);
  };
  for (const [i, { key }] of consumers.entries()) once('consumer', key, 'consumers', i, 'key');
  for (const [i, { id, screenName, oauthTokens, bearerTokens }] of users.entries()) {
    once('id', String(id), 'users', i, 'id');
    // Matrix ids are lower case.
    once('name', screenName.toLowerCase(), 'users', i, 'screen_name');
    for (const [j, { token }] of oauthTokens.entries()) once('oauth', token, 'users', i, 'oauth_tokens', j, 'token');
    for (const [j, token] of bearerTokens.entries()) once('bearer', token, 'users', i, 'bearer_tokens', j);
  }
  return faults;
}

function faultAt(path: readonly PropertyKey[], message: string): string {
  return `is invalid: ${z.core.toDotPath(path) || 'its content'} ${message}`;
}
