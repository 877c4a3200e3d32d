import * as z from 'zod/mini';
import { asciiWord, hasLogin } from '../../service-address.ts';
import { quotedName } from '../../visible-text.ts';
import { UsageError } from '../command-context.ts';
import { fetchJson, StatusError } from './fetch-json.ts';

const shortText = z.string().check(z.maxLength(256));
const address = z.url({ protocol: /^https?$/ }).check(
  z.maxLength(2048),
  z.refine((text) => !hasLogin(text)),
  z.regex(asciiWord),
);
const common = { name: shortText, provider: address, scope: z.optional(shortText) };
const providerShape = z.discriminatedUnion('profile', [
  z.object({ ...common, profile: z.literal('mastodon') }),
  z.object({ ...common, profile: z.literal('oidc'), issuer: address, clientId: shortText }),
]);
const settingsShape = z.object({
  upload: address,
  apiKey: z.optional(z.string()),
  // Providers of a later release may be unknown here.
  providers: z.array(z.catch(z.nullable(providerShape), null)).check(z.maxLength(100)),
});

/** A provider at which users of the site sign in. */
export type SiteProvider = z.infer<typeof providerShape>;

/** Reads what the site with this page publishes for clients. @throws Error if it is no Echodrop site or has no sign-in */
export async function fetchSiteSettings(page: string) {
  const { origin: site } = new URL(page);
  const { data } = settingsShape.safeParse(await fetchSettings(site));
  if (data) return { site, ...data, providers: data.providers.filter((each) => each !== null) };
  throw new Error(
    `${page} offers no sign-in. Use the URL of the site (where the pages are), not of the upload service.`,
  );
}

/** The provider with this name or address, or the only one. @throws UsageError that lists the names */
export function chooseProvider(providers: readonly SiteProvider[], wanted: string | undefined): SiteProvider {
  const found = providers.filter(
    ({ name, provider }) => wanted === undefined || provider === wanted || name.toLowerCase() === wanted.toLowerCase(),
  );
  const [first, second] = found;
  if (first && !second) return first;
  if (providers.length === 0) throw new UsageError('This site offers no sign-in.');
  const names = providers.map(({ name }) => quotedName(name)).join(', ');
  const isUnknown = wanted !== undefined && !first;
  const choose = isUnknown ? `Unknown provider ${quotedName(wanted)}. Choose one` : 'Choose a provider';
  throw new UsageError(`${choose} with --provider: ${names}.`);
}

// The value is undefined if the site has none.
async function fetchSettings(site: string): Promise<unknown> {
  return fetchJson(`${site}/sign-in/providers.json`).catch((error: unknown) => {
    if (error instanceof StatusError && error.status === 404) return undefined;
    throw error;
  });
}
