import { readFileSync } from 'node:fs';
import { parseExactJson } from '@echodrop/record';
import { z } from 'zod';

const credential = z.string().regex(/^[\x21-\x7e]{1,256}$/, 'must be 1 to 256 visible ASCII characters');
const bearerToken = z.string().regex(/^[\w.~+/-]{1,256}=*$/, 'must be a bearer token (RFC 6750, section 2.1)');
const id = z.union(
  [z.bigint(), z.int().transform(BigInt), z.string().min(1).max(256)],
  'must be an integer or a string',
);

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
export const builtInAccounts = accounts.parse({
  users: [
    {
      id: 12345,
      screen_name: 'sandbox',
      name: 'Robin',
      oauth_tokens: [{ token: '12345-sandbox', secret: 'sandbox-token-secret' }],
      bearer_tokens: ['sandbox-bearer'],
    },
  ],
});

/** Reads a JSON file of accounts. @returns them, or the faults as messages to follow the setting's name */
export function readAccounts(path: string): Accounts | readonly string[] {
  try {
    const { data, error } = accounts.safeParse(parseExactJson(readFileSync(path, 'utf8')));
    return data ?? error.issues.map((issue) => `is invalid: ${z.core.toDotPath(issue.path)} ${issue.message}`);
  } catch (error) {
    if (error instanceof SyntaxError) return ['is not JSON'];
    return [`cannot be read (${(error as NodeJS.ErrnoException).code})`];
  }
}
