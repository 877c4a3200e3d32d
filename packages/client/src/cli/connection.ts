import { createHash } from 'node:crypto';
import type { OAuthCredentials } from '@echodrop/oauth/signed-get';
import type { Command } from 'commander';
import type { Proof, UserCredentials } from '../credentials.ts';
import { asciiWord, serviceAddress } from '../service-address.ts';
import { baseAddress, type CommandContext, UsageError, webAddress } from './command-context.ts';
import { defaultProfile, readProfile, requirePrivate } from './profiles/profiles.ts';
import { freshProfile } from './sign-in/renew-token.ts';
import { requireSecure } from './sign-in/secure-address.ts';

const urlOption = '--url or ECHODROP_URL';

/** A user of an upload service. */
export interface Connection extends Proof {
  readonly service: string;
  readonly apiKey: string | undefined;
  /** What identifies the user in the ledger, without a secret. */
  readonly account: string;
  /** The token of a profile, renewed if it ends soon or the service refused it. */
  readonly freshToken?: (refused?: string) => Promise<string>;
}

export interface ConnectionOptions {
  readonly profile?: string;
  readonly url?: string;
  readonly allowHttp?: boolean;
  readonly key?: string;
  readonly provider?: string;
  readonly bearer?: string;
  readonly consumerKey?: string;
  readonly consumerSecret?: string;
  readonly token?: string;
  readonly tokenSecret?: string;
  readonly apiVersion?: '1' | '2';
}

/** Adds the options that name service and user. Each has a variable; together they replace a profile. */
export function addConnectionOptions(command: Command): Command {
  return command
    .option('--profile <name>', 'name of a login that `echodrop login` saved (ECHODROP_PROFILE)')
    .optionsGroup(
      'Server and credentials, instead of a login that `echodrop login` saved. Other users of this machine can see command-line options in the process list; ' +
        'use the variables in parentheses for secrets:',
    )
    .option('--url <url>', 'upload service, such as https://upload.example (ECHODROP_URL)')
    .option('--allow-http', 'send credentials without TLS, on a trusted network (ECHODROP_ALLOW_HTTP=1)')
    .option('--key <key>', 'API key (ECHODROP_KEY)')
    .option('--provider <url>', 'identity provider (ECHODROP_PROVIDER)')
    .option('--bearer <token>', 'bearer token (ECHODROP_BEARER)')
    .option('--consumer-key <key>', 'OAuth 1.0a consumer key (ECHODROP_CONSUMER_KEY)')
    .option('--consumer-secret <secret>', 'OAuth 1.0a consumer secret (ECHODROP_CONSUMER_SECRET)')
    .option('--token <token>', 'OAuth 1.0a token (ECHODROP_TOKEN)')
    .option('--token-secret <secret>', 'OAuth 1.0a token secret (ECHODROP_TOKEN_SECRET)');
}

/** Connects as the options say, else the environment, else the profile. @throws UsageError if one of them lacks something */
export async function connect({ env }: CommandContext, options: ConnectionOptions): Promise<Connection> {
  const proof = directProof(options, env);
  return proof ? connectDirectly(proof, options, env) : connectWithProfile(options, env);
}

/** Provider and credentials from options or variables; undefined if a profile has them. @throws UsageError if they are incomplete */
export function directProof(options: ConnectionOptions, env: NodeJS.ProcessEnv): Proof | undefined {
  const provider = options.provider || env['ECHODROP_PROVIDER'];
  if (options.profile !== undefined) {
    const { provider, bearer, consumerKey, consumerSecret, token, tokenSecret } = options;
    if (provider || bearer || consumerKey || consumerSecret || token || tokenSecret)
      throw new UsageError('Pass --profile or credentials and --provider, not both.');
    return undefined;
  }
  if (!provider) {
    requireNoCredentials(options, env);
    return undefined;
  }
  // The service compares the provider's address character by character, so the address stays as it is.
  webAddress('--provider', provider);
  if (!asciiWord.test(provider)) throw new UsageError('--provider must contain only ASCII characters, without spaces.');
  return { provider, credentials: directCredentials(provider, options, env) };
}

async function connectWithProfile(options: ConnectionOptions, env: NodeJS.ProcessEnv): Promise<Connection> {
  const name = profileName(options, env);
  const profile = await readProfile(env, name);
  if (!profile) {
    const [as, option] = name === defaultProfile ? ['', ''] : [` as ${name}`, ` --profile ${name}`];
    throw new UsageError(`Not signed in${as}. Run \`echodrop login <site>${option}\`.`);
  }
  await requirePrivate(env, name);
  const service = serviceAddress(baseAddress(urlOption, options.url || env['ECHODROP_URL'] || profile.service));
  if (new URL(service).origin !== new URL(profile.service).origin)
    throw new UsageError(
      `The profile ${name} belongs to ${profile.service}, so its token is not sent to ${service}. Leave out --url and ECHODROP_URL, ` +
        'run `echodrop login` for the other server with a --profile of its own, or pass --provider and credentials.',
    );
  let latest = await freshProfile(env, name, profile);
  const freshToken = async (refused?: string) => {
    latest = await freshProfile(env, name, latest, refused);
    return latest.token;
  };
  const { apiKey, token, subject, provider } = latest;
  return {
    service,
    apiKey: options.key || env['ECHODROP_KEY'] || apiKey,
    provider,
    credentials: { bearer: token },
    account: JSON.stringify([provider, subject]),
    freshToken,
  };
}

// Otherwise a profile would take the place of the missing credentials, and with it another user.
function requireNoCredentials(options: ConnectionOptions, env: NodeJS.ProcessEnv): void {
  if (options.bearer || env['ECHODROP_BEARER'] || options.token || env['ECHODROP_TOKEN'])
    throw new UsageError(
      'Credentials without an identity provider: pass --provider or set ECHODROP_PROVIDER. ' +
        'To use a profile instead, pass --profile or remove the credentials (ECHODROP_BEARER, ECHODROP_TOKEN).',
    );
}

/** The profile that option or variable names, or the default one. */
export function profileName({ profile }: Pick<ConnectionOptions, 'profile'>, env: NodeJS.ProcessEnv): string {
  return profile ?? (env['ECHODROP_PROFILE'] || defaultProfile);
}

function connectDirectly(proof: Proof, options: ConnectionOptions, env: NodeJS.ProcessEnv): Connection {
  const { provider, credentials } = proof;
  const given = options.url || env['ECHODROP_URL'];
  if (!given) throw new UsageError('Missing upload service: pass --url or set ECHODROP_URL.');
  const service = serviceAddress(baseAddress(urlOption, given));
  if (!options.allowHttp && !isHttpAllowed(env)) {
    const advice = 'In a trusted network, pass --allow-http or set ECHODROP_ALLOW_HTTP=1.';
    requireSecure('upload service', service, advice);
    requireSecure('provider', provider, advice);
  }
  const identity = 'bearer' in credentials ? credentials.bearer : `${credentials.consumerKey} ${credentials.token}`;
  return {
    service,
    apiKey: options.key || env['ECHODROP_KEY'],
    ...proof,
    account: JSON.stringify([provider, createHash('sha256').update(identity).digest('hex')]),
  };
}

/** @throws UsageError for a value such as 0 or false, whose intent is not clear */
function isHttpAllowed({ ECHODROP_ALLOW_HTTP: value }: NodeJS.ProcessEnv): boolean {
  if (value && value !== '1') throw new UsageError('ECHODROP_ALLOW_HTTP must be 1, or unset.');
  return value === '1';
}

function directCredentials(provider: string, options: ConnectionOptions, env: NodeJS.ProcessEnv): UserCredentials {
  const { consumerKey, consumerSecret, token, tokenSecret, apiVersion } = options;
  const signing = {
    consumerKey: consumerKey || env['ECHODROP_CONSUMER_KEY'],
    consumerSecret: consumerSecret || env['ECHODROP_CONSUMER_SECRET'],
    token: token || env['ECHODROP_TOKEN'],
    tokenSecret: tokenSecret || env['ECHODROP_TOKEN_SECRET'],
  };
  const signs = consumerKey || consumerSecret || token || tokenSecret || (apiVersion === '1' && isComplete(signing));
  const bearer = options.bearer || (!signs && env['ECHODROP_BEARER']);
  if (bearer) {
    if (!asciiWord.test(bearer)) throw new UsageError('The bearer token contains spaces or other invalid characters.');
    return { bearer };
  }
  if (isComplete(signing)) return signing;
  throw new UsageError(
    `Missing credentials for ${provider}: pass a bearer token, or OAuth 1.0a consumer key, consumer secret, token and token secret. ` +
      'Their variables are ECHODROP_BEARER, ECHODROP_CONSUMER_KEY, ECHODROP_CONSUMER_SECRET, ECHODROP_TOKEN and ECHODROP_TOKEN_SECRET.',
  );
}

function isComplete(credentials: Record<keyof OAuthCredentials, string | undefined>): credentials is OAuthCredentials {
  return Object.values(credentials).every(Boolean);
}
