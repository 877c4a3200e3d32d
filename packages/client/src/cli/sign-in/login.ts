import { text } from 'node:stream/consumers';
import { visibleName } from '../../visible-text.ts';
import { baseAddress, type CommandContext, printAddress, printNote, printRow, UsageError } from '../command-context.ts';
import { isToken, profileName } from '../connection.ts';
import { finishFirst, onEnd } from '../on-end.ts';
import { draftProfile, lockProfile, type Profile, readProfile, type Tokens } from '../profiles/profiles.ts';
import { authorizationAt, confirmSignIn } from './confirm-sign-in.ts';
import { identifyUser, type User } from './identify-user.ts';
import { catchDamaged, damagedNote, keptTokenNote } from './logout.ts';
import { openBrowser } from './open-browser.ts';
import { expiryOf, revokeToken } from './renew-token.ts';
import { requireSecure } from './secure-address.ts';
import { type Grant, signIn } from './sign-in.ts';
import { chooseProvider, fetchSiteSettings, type SiteProvider } from './site-settings.ts';

export interface LoginOptions {
  readonly profile?: string;
  readonly provider?: string;
  readonly key?: string;
  readonly tokenStdin?: boolean;
  /** Confirms what the site requests. */
  readonly yes?: boolean;
  readonly browser: boolean;
}

/** Signs in at a provider of the site whose page is at `address`, and stores the profile. */
export async function login(context: CommandContext, address: string, options: LoginOptions): Promise<void> {
  const { env } = context;
  const name = profileName(options, env);
  const page = baseAddress('<site>', address, 'https://photos.example');
  requireSecure('site', page);
  const settings = await fetchSiteSettings(page);
  const service = baseAddress('upload service', settings.upload);
  requireSecure('upload service', service);
  const apiKey = options.key ?? settings.apiKey;
  const provider = chooseProvider(settings.providers, options.provider);
  requireSecure('provider', provider.provider);
  // Before the sign-in, which would be lost if the folder is not writable.
  await (await draftProfile(env, name))[Symbol.asyncDispose]();
  const request = {
    site: settings.site,
    service,
    provider: provider.provider,
    providerName: provider.name,
    ...(!options.tokenStdin && { authorization: authorizationAt(provider) }),
  };
  const replaced = await readProfile(env, name).catch(catchDamaged);
  await confirmSignIn(context, request, {
    replaced: replaced === 'damaged' ? undefined : replaced,
    isConfirmed: options.yes,
  });
  const given = options.tokenStdin ? await readToken(context) : undefined;
  let issued: Tokens | undefined;
  const revokeUnstored = onEnd(async () => {
    if (!issued) return;
    const stored = await readProfile(env, name).catch(() => undefined);
    if (stored?.token !== issued.token) await revokeToken(issued);
  });
  const onTokens = (tokens: Tokens) => {
    issued = tokens;
  };
  try {
    const granted = given ?? (await grantInBrowser(context, provider, { opens: options.browser, onTokens }));
    const user = await identifyGrant(provider, granted);
    await replaceProfile(context, name, { ...request, apiKey, ...user, ...granted.tokens });
  } finally {
    await revokeUnstored();
  }
  if (!apiKey) printNote(context, 'The site publishes no API key. Pass one with --key to upload.');
}

async function replaceProfile(context: CommandContext, name: string, profile: Profile): Promise<void> {
  const { env } = context;
  await using _lock = await lockProfile(env, name);
  const replaced = await readProfile(env, name).catch(catchDamaged);
  await using draft = await draftProfile(env, name);
  await finishFirst(async () => {
    await draft.store(profile);
    if (replaced === 'damaged') printNote(context, damagedNote(name));
    else if (replaced && !mayShareGrant(replaced, profile) && !(await revokeToken(replaced)))
      printNote(context, keptTokenNote('replaced token', replaced));
  });
  printRow(context, `Signed in as ${visibleName(profile.name)} at ${visibleName(profile.providerName)}.`);
}

// Keycloak ends all sign-ins of a user at a client with the refresh token of one. The client of a token from standard input is unknown.
function mayShareGrant(old: Profile, { provider, subject, client }: Profile): boolean {
  return old.provider === provider && old.subject === subject && (!client || client.id === old.client?.id);
}

interface Granted {
  readonly tokens: Tokens;
  /** The user in the ID token; none without OpenID Connect. */
  readonly subject?: string | undefined;
  /** What a refusal of the token means; by default, the advice to log in again. */
  readonly refusal?: string;
}

async function identifyGrant({ provider, name }: SiteProvider, { tokens, subject, refusal }: Granted): Promise<User> {
  const user = await identifyUser({ provider, credentials: { bearer: tokens.token } }, refusal);
  // OpenID Connect Core 5.3.2: the token could be another user's.
  if (subject !== undefined && subject !== user.subject)
    throw new Error(`${visibleName(name)} returned another user than the one who signed in.`);
  return user;
}

async function readToken({ stdin }: CommandContext): Promise<Granted> {
  const token = (await text(stdin)).trim();
  if (!isToken(token)) throw new UsageError('Standard input has no token, or more than one.');
  return { tokens: { token }, refusal: 'rejected this token. Check the token and try again.' };
}

interface BrowserOptions {
  readonly opens: boolean;
  onTokens(tokens: Tokens): void;
}

async function grantInBrowser(
  context: CommandContext,
  provider: SiteProvider,
  { opens, onTokens }: BrowserOptions,
): Promise<Granted> {
  const grant = await signIn(provider, {
    onAddress(address) {
      printNote(
        context,
        `To sign in with ${visibleName(provider.name)}, open this URL in a browser on this machine within ten minutes:`,
      );
      printAddress(context, address);
      if (opens) openBrowser(address, context.env);
    },
    onTokens: (issued) => onTokens(tokensOf(issued)),
  });
  return { tokens: tokensOf(grant), subject: grant.subject };
}

function tokensOf({ server, client, secret, token, refreshToken, expiresInSeconds }: Grant): Tokens {
  return {
    token,
    refreshToken,
    expiresAt: expiryOf(expiresInSeconds),
    client: {
      id: client.client_id,
      secret,
      issuer: server.issuer,
      tokenEndpoint: addressOf(server.token_endpoint),
      revocationEndpoint: addressOf(server.revocation_endpoint),
      algorithms: namesIn(server.id_token_signing_alg_values_supported),
    },
  };
}

// The metadata of a provider is not validated further.
function addressOf(endpoint: unknown): string | undefined {
  return typeof endpoint === 'string' && URL.canParse(endpoint) ? endpoint : undefined;
}

function namesIn(list: unknown): string[] | undefined {
  return Array.isArray(list) ? list.filter((name) => typeof name === 'string') : undefined;
}
