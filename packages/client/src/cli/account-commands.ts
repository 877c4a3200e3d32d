import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { authorizationOf } from '../credentials.ts';
import { toExactJson } from '../exact-json.ts';
import { type CommandContext, print, printNote, UsageError, visible, webAddress } from './command-context.ts';
import {
  addConnectionOptions,
  type ConnectionOptions,
  connect,
  directProof,
  isToken,
  profileName,
} from './connection.ts';
import { DamagedProfile, draftProfile, lockProfile, type Profile, readProfile, removeProfile } from './profiles.ts';
import { identifyUser } from './sign-in/identify-user.ts';
import { openBrowser } from './sign-in/open-browser.ts';
import { expiryOf, revokeToken } from './sign-in/renew-token.ts';
import { requireSecure } from './sign-in/secure-address.ts';
import { type Grant, signIn } from './sign-in/sign-in.ts';
import { chooseProvider, fetchSiteSettings, type SiteProvider } from './sign-in/site-settings.ts';
import { withRenewal } from './with-client.ts';

interface LoginOptions {
  readonly profile?: string;
  readonly provider?: string;
  readonly key?: string;
  readonly tokenStdin?: boolean;
  readonly browser: boolean;
}

const loginHelp = `
Examples:
  echodrop login https://photos.example
  echodrop login https://photos.example --provider Town --profile town
  secret-tool lookup service echodrop | echodrop login https://photos.example --token-stdin

The token is stored in $XDG_CONFIG_HOME/echodrop, in a file that only you can read.
`;

/** Adds the commands for accounts: login, whoami, logout, sign. */
export function addAccountCommands(program: Command, context: CommandContext): void {
  program
    .command('login')
    .description("sign in at the site's identity provider, in the browser")
    .argument('<site>', 'address of the site')
    .option('--provider <name>', 'name or address of the provider, if the site has several')
    .option('--profile <name>', 'name for this user and server (ECHODROP_PROFILE)')
    .option('--key <key>', 'API key, if the site publishes none')
    .option('--token-stdin', 'read a bearer token from standard input and open no browser')
    .option('--no-browser', 'print the sign-in address instead of opening a browser; it is valid for ten minutes')
    .addHelpText('after', loginHelp)
    .action((site: string, options: LoginOptions) => login(context, site, options));

  const whoami = program
    .command('whoami')
    .description('show the user and the server')
    .option('--json', 'print a JSON object')
    .action((options: ConnectionOptions & { json?: boolean }) => showUser(context, options));
  addConnectionOptions(whoami);

  program
    .command('logout')
    .description('revoke the token at the provider, if supported, and delete it here')
    .option('--profile <name>', 'user and server of an earlier login (ECHODROP_PROFILE)')
    .action((options: { profile?: string }) => logout(context, options));

  const sign = program
    .command('sign')
    .description('print the X-Verify-Credentials-Authorization header for one request')
    .action((options: ConnectionOptions) => printSignature(context, options));
  addConnectionOptions(sign);
}

async function login(context: CommandContext, address: string, options: LoginOptions): Promise<void> {
  const { env } = context;
  const name = profileName(options, env);
  const page = webAddress('<site>', address, 'https://photos.example');
  if (/[?#]/.test(page)) throw new UsageError('<site> must contain no "?" or "#".');
  requireSecure('site', page);
  const settings = await fetchSiteSettings(page);
  requireSecure('upload service', settings.upload);
  const apiKey = options.key ?? settings.apiKey;
  const provider = chooseProvider(settings.providers, options.provider);
  requireSecure('provider', provider.provider);
  const given = options.tokenStdin ? await readToken(context) : undefined;
  // Before the sign-in, which would be lost if the folder is not writable.
  await (await draftProfile(env, name))[Symbol.asyncDispose]();
  const { tokens, subject } = given ?? (await grantInBrowser(context, provider, options.browser));
  const user = await identifyUser(
    { provider: provider.provider, credentials: { bearer: tokens.token } },
    options.tokenStdin ? 'rejected this token. Check the token and try again.' : undefined,
  );
  // OpenID Connect Core 5.3.2: the token could be another user's.
  if (subject !== undefined && subject !== user.subject)
    throw new Error(`${visible(provider.name)} returned another user than the one who signed in.`);
  const profile: Profile = {
    site: settings.site,
    service: webAddress('upload service', settings.upload),
    apiKey,
    provider: provider.provider,
    providerName: provider.name,
    ...user,
    ...tokens,
  };
  await using _lock = await lockProfile(env, name);
  const replaced = await readProfile(env, name).catch(catchDamaged);
  await using draft = await draftProfile(env, name);
  await draft.store(profile);
  if (replaced === 'damaged') printNote(context, damagedNote(name));
  else if (replaced && !mayShareGrant(replaced, profile)) await revokeToken(replaced);
  print(context, visible(`Signed in as ${user.name} (${provider.name}).`));
  if (!apiKey) printNote(context, 'The site publishes no API key. Pass one with --key to upload.');
}

// Keycloak ends all sign-ins of a user at a client with the refresh token of one. The client of a token from standard input is unknown.
function mayShareGrant(old: Profile, { provider, subject, client }: Profile): boolean {
  return old.provider === provider && old.subject === subject && (!client || client.id === old.client?.id);
}

type Tokens = Pick<Profile, 'token' | 'client' | 'refreshToken' | 'expiresAt'>;

interface Granted {
  readonly tokens: Tokens;
  readonly subject?: string | undefined;
}

async function readToken({ stdin }: CommandContext): Promise<Granted> {
  const token = (await text(stdin)).trim();
  if (!isToken(token)) throw new UsageError('Standard input has no token, or more than one.');
  return { tokens: { token } };
}

async function grantInBrowser(context: CommandContext, provider: SiteProvider, opens: boolean): Promise<Granted> {
  const grant = await signIn(provider, (address) => {
    printNote(
      context,
      `To sign in at ${visible(provider.name)}, open this address in a browser on this machine within ten minutes:\n${address}`,
    );
    if (opens) openBrowser(address, context.env);
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

async function showUser(context: CommandContext, { json, ...options }: ConnectionOptions & { json?: boolean }) {
  const connection = await connect(context, options);
  const { provider, service } = connection;
  const user = await withRenewal(connection, (proof) => identifyUser(proof));
  if (json) print(context, toExactJson({ ...user, provider, service }));
  else print(context, visible(`${user.name} at ${provider}, uploading to ${service}`));
}

async function logout(context: CommandContext, options: { readonly profile?: string }): Promise<void> {
  const name = profileName(options, context.env);
  await using _lock = await lockProfile(context.env, name);
  const profile = await readProfile(context.env, name).catch(catchDamaged);
  const isRevoked = profile && profile !== 'damaged' && (await revokeToken(profile));
  await removeProfile(context.env, name);
  if (profile === 'damaged') throw new Error(damagedNote(name));
  if (!profile) return print(context, 'Not signed in.');
  print(context, visible(`Signed out ${profile.name}.`));
  const place = visible(profile.providerName);
  if (!isRevoked)
    printNote(context, `The token is not revoked. It stays valid until it expires or you revoke it at ${place}.`);
}

function catchDamaged(error: unknown): 'damaged' {
  if (error instanceof DamagedProfile) return 'damaged';
  throw error;
}

function damagedNote(name: string): string {
  return `The file of the profile ${name} was damaged and is replaced or deleted. Its token could not be revoked: revoke it at the provider.`;
}

async function printSignature(context: CommandContext, options: ConnectionOptions): Promise<void> {
  // A header alone needs no upload service.
  const { provider, credentials } = directProof(options, context.env) ?? (await connect(context, options));
  print(context, authorizationOf(provider, credentials));
}
