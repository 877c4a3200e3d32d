import * as z from 'zod/mini';

const address = z.url({ protocol: /^https?$/, error: 'must be an http(s) address' });
const given = z.string().check(z.minLength(1, { abort: true }));
const optionsShape = z.object({
  service: address,
  provider: address,
  credentials: z.union(
    [
      z.object({ bearer: given }),
      z.object({ consumerKey: given, consumerSecret: given, token: given, tokenSecret: given }),
    ],
    { error: 'must be { bearer } or { consumerKey, consumerSecret, token, tokenSecret }' },
  ),
});

/** @throws TypeError that names an option which is missing or invalid, for callers without types */
export function requireComplete({
  service,
  provider,
  credentials,
}: Record<'service' | 'provider' | 'credentials', unknown>): void {
  const { error } = optionsShape.safeParse({ service: String(service), provider, credentials });
  const [issue] = error?.issues ?? [];
  if (issue) throw new TypeError(`\`${String(issue.path[0])}\` ${issue.message}.`);
}
