import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { OAuthCredentials } from '@echodrop/oauth/signed-get';
import type { Upload, UserCredentials } from './client.ts';
import { localApiKey, localCredentials, localProvider, localService } from './local-system.ts';
import type { Format } from './read-response.ts';

export const usage = `Usage:
  npm run sign -- [options]          print the X-Verify-Credentials-Authorization header
  npm run upload -- FILE [options]   upload a photo or video and print its record

Options, with the environment variable for each:
  --provider URL            identity provider           ECHODROP_PROVIDER
  --consumer-key KEY        OAuth 1.0a consumer key     ECHODROP_CONSUMER_KEY
  --consumer-secret SECRET  OAuth 1.0a consumer secret  ECHODROP_CONSUMER_SECRET
  --token TOKEN             OAuth 1.0a token            ECHODROP_TOKEN
  --token-secret SECRET     OAuth 1.0a token secret     ECHODROP_TOKEN_SECRET
  --bearer TOKEN            bearer token, instead of    ECHODROP_BEARER
                            the four OAuth options

Options of upload:
  --url URL                 upload service              ECHODROP_URL
  --key KEY                 API key                     ECHODROP_KEY
  --message TEXT            caption
  --format json|xml         output format (default: json)
  --api-version 2|1         API version (default: 2)

The defaults match \`npm start\` in the same environment. If IDENTITY_PROVIDERS is set, the default provider is its first entry, and
you must pass credentials: an OAuth 1.0a key and token, or a bearer token.
Prefer variables for secrets: other users of the machine can see options.
`;

/** The command line is invalid. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export type Command =
  | { readonly name: 'help' }
  | { readonly name: 'sign'; readonly provider: string; readonly credentials: UserCredentials }
  | (Upload & { readonly name: 'upload'; readonly service: string; readonly format: Format; readonly version: 1 | 2 });

const text = { type: 'string' } as const;
const options = {
  provider: text,
  'consumer-key': text,
  'consumer-secret': text,
  token: text,
  'token-secret': text,
  bearer: text,
  url: text,
  key: text,
  message: text,
  format: text,
  'api-version': text,
  help: { type: 'boolean', short: 'h' },
} as const;

/**
 * Reads the arguments. An option overrides its variable, which overrides the local default. The file is relative to INIT_CWD (of npm).
 * @throws UsageError, or the system's error if API_KEYS_FILE cannot be read
 */
export function readCommand(args: readonly string[], env: NodeJS.ProcessEnv): Command {
  const { values, positionals } = parsed(args);
  const [name, file, ...rest] = positionals;
  if (values.help || name === undefined) return { name: 'help' };

  const provider = webAddress('provider', values.provider || env.ECHODROP_PROVIDER || localProvider(env));
  const credentials = readCredentials(provider, values, env);
  if (name === 'sign' && file === undefined) return { name, provider, credentials };
  if (name !== 'upload' || file === undefined || rest.length > 0)
    throw new UsageError('Expected `sign`, or `upload` and one file.');
  const service = webAddress('url', values.url || env.ECHODROP_URL || localService(env));
  const version = oneOf('api-version', ['2', '1'], values['api-version']) === '1' ? 1 : 2;
  if (version === 1 && 'bearer' in credentials) throw new UsageError('API version 1 does not support bearer tokens.');
  return {
    name,
    file: resolve(env.INIT_CWD ?? '', file),
    service: service.replace(/\/+$/, ''),
    message: values.message ?? '',
    apiKey: values.key || env.ECHODROP_KEY || localApiKey(env),
    provider,
    credentials,
    format: oneOf('format', ['json', 'xml'], values.format),
    version,
  };
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

type Values = ReturnType<typeof parsed>['values'];

function readCredentials(provider: string, values: Values, env: NodeJS.ProcessEnv): UserCredentials {
  const bearer = values.bearer || env.ECHODROP_BEARER;
  if (bearer) return { bearer };
  const known = localCredentials(env);
  const credentials = {
    consumerKey: values['consumer-key'] || env.ECHODROP_CONSUMER_KEY || known?.consumerKey,
    consumerSecret: values['consumer-secret'] || env.ECHODROP_CONSUMER_SECRET || known?.consumerSecret,
    token: values.token || env.ECHODROP_TOKEN || known?.token,
    tokenSecret: values['token-secret'] || env.ECHODROP_TOKEN_SECRET || known?.tokenSecret,
  };
  if (isComplete(credentials)) return credentials;
  throw new UsageError(
    `Missing credentials for ${provider}: pass consumer key, consumer secret, token and token secret, or a bearer token.`,
  );
}

function isComplete(credentials: Record<keyof OAuthCredentials, string | undefined>): credentials is OAuthCredentials {
  return Object.values(credentials).every(Boolean);
}

function oneOf<const T extends string>(name: string, [fallback, other]: readonly [T, T], given: string | undefined): T {
  const found = [fallback, other].find((value) => value === (given ?? fallback));
  if (found === undefined) throw new UsageError(`--${name} must be ${fallback} or ${other}.`);
  return found;
}

function webAddress(name: string, address: string): string {
  if (!/^https?:$/.test(URL.parse(address)?.protocol ?? ''))
    throw new UsageError(`--${name} must be an http(s) address.`);
  return address;
}
