import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { asciiWord } from '../../service-address.ts';
import { visibleName } from '../../visible-text.ts';
import { baseAddress, type CommandContext, printNote, printRow, printWhole, UsageError } from '../command-context.ts';
import { profileName } from '../connection.ts';
import { lockProfile, type Profile, readProfile, removeProfile, storeProfile } from '../profiles/profiles.ts';
import { authorizationAt, confirmSignIn } from './confirm-sign-in.ts';
import { identifyUser, type User } from './identify-user.ts';
import { revokeToken } from './renew-token.ts';
import { requireSecure } from './secure-address.ts';
import { type SignedIn, signIn } from './sign-in.ts';
import { chooseProvider, fetchSiteSettings, type SiteProvider } from './site-settings.ts';

const openers: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  // The address is an argument of its own, and not parsed by a shell.
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

export interface LoginOptions {
  readonly profile?: string;
  readonly provider?: string;
  readonly key?: string;
  readonly tokenStdin?: boolean;
  /** Whether the user confirms in advance what the site requests. */
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
  // The lock is taken before the sign-in, which would be lost if the folder is not writable.
  await (await lockProfile(env, name))[Symbol.asyncDispose]();
  const request = {
    site: settings.site,
    service,
    provider: provider.provider,
    providerName: provider.name,
    ...(!options.tokenStdin && { authorization: authorizationAt(provider) }),
  };
  // A damaged profile is replaced.
  const replaced = await readProfile(env, name).catch(() => undefined);
  await confirmSignIn(context, request, { replaced, isConfirmed: options.yes });
  const granted = options.tokenStdin
    ? { tokens: { token: await readToken(context) } }
    : await signIn(provider, (address) => showSignIn(context, provider, address, options.browser));
  try {
    const user = await identifyGrant(provider, granted, options.tokenStdin ? givenTokenRefused : undefined);
    await replaceProfile(context, name, { ...request, apiKey, ...user, ...granted.tokens });
  } catch (error) {
    await revokeToken(granted.tokens);
    throw error;
  }
  if (!apiKey) printNote(context, 'The site publishes no API key. Pass one with --key to upload.');
}

async function replaceProfile(context: CommandContext, name: string, profile: Profile): Promise<void> {
  const { env } = context;
  await using _lock = await lockProfile(env, name);
  const replaced = await readProfile(env, name).catch(() => undefined);
  await storeProfile(env, name, profile);
  if (replaced && !mayShareGrant(replaced, profile) && !(await revokeToken(replaced)))
    printNote(context, keptTokenNote('replaced token', replaced));
  printRow(context, `Signed in as ${visibleName(profile.name)} at ${visibleName(profile.providerName)}.`);
}

function keptTokenNote(token: string, { providerName }: Profile): string {
  return `The ${token} is not revoked. It stays valid until it expires or you revoke it at ${visibleName(providerName)}.`;
}

// Keycloak ends all sign-ins of a user at a client with the refresh token of one. The client of a token from standard input is unknown.
function mayShareGrant(old: Profile, { provider, subject, client }: Profile): boolean {
  return old.provider === provider && old.subject === subject && (!client || client.id === old.client?.id);
}

const givenTokenRefused = 'rejected this token. Check the token and try again.';

async function identifyGrant(
  { provider, name }: SiteProvider,
  { tokens, subject }: SignedIn,
  refusal?: string,
): Promise<User> {
  const user = await identifyUser({ provider, credentials: { bearer: tokens.token } }, refusal);
  // OpenID Connect Core 5.3.2: the token could be another user's.
  if (subject !== undefined && subject !== user.subject)
    throw new Error(`${visibleName(name)} returned another user than the one who signed in.`);
  return user;
}

async function readToken({ stdin }: CommandContext): Promise<string> {
  const token = (await text(stdin)).trim();
  if (!asciiWord.test(token)) throw new UsageError('Standard input has no token, or more than one.');
  return token;
}

function showSignIn(context: CommandContext, { name }: SiteProvider, address: string, opens: boolean): void {
  printNote(
    context,
    `To sign in with ${visibleName(name)}, open this URL in a browser on this machine within ten minutes:`,
  );
  printWhole(context, address);
  if (opens) openBrowser(address, context.env);
}

/** Opens an address in the user's browser, if this machine has one. The address is printed too, so a failure does not matter. */
function openBrowser(address: string, env: NodeJS.ProcessEnv): void {
  const [program, ...args] = openers[process.platform] ?? ['xdg-open'];
  const child = spawn(program, [...args, address], { stdio: 'ignore', detached: true, env });
  child.on('error', () => {});
  child.unref();
}

/** Revokes the tokens of a profile and deletes it. */
export async function logout(context: CommandContext, options: { readonly profile?: string }): Promise<void> {
  const name = profileName(options, context.env);
  await using _lock = await lockProfile(context.env, name);
  const profile = await readProfile(context.env, name);
  if (profile && !(await revokeToken(profile))) printNote(context, keptTokenNote('token', profile));
  await removeProfile(context.env, name);
  printRow(
    context,
    profile ? `Signed out: ${visibleName(profile.name)} at ${visibleName(profile.providerName)}.` : 'Not signed in.',
  );
}
