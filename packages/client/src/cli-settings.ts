import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { OAuthCredentials } from '@echodrop/oauth/signed-get';
import type { UserCredentials } from './client.ts';
import { localApiKey, localCredentials, localProvider, localService } from './local-system.ts';
import type { Format } from './read-answer.ts';

export const usage = `Usage:
  sign [options]          prints the value of X-Verify-Credentials-Authorization
  upload FILE [options]   uploads a photo or a video and prints its record

Options, each followed by the variable that sets it too:
  --provider ADDRESS        identity provider   ECHODROP_PROVIDER
  --consumer-key KEY                            ECHODROP_CONSUMER_KEY
  --consumer-secret SECRET                      ECHODROP_CONSUMER_SECRET
  --token TOKEN                                 ECHODROP_TOKEN
  --token-secret SECRET                         ECHODROP_TOKEN_SECRET
  --bearer TOKEN            instead of the four ECHODROP_BEARER
Of upload:
  --url ADDRESS             the service         ECHODROP_URL
  --key KEY                 API key             ECHODROP_KEY
  --message TEXT            caption
  --format xml|json         of the record
  --api-version 1|2         of the interface

Unless set, everything fits a system that \`npm start\` runs with the same environment. Where that names IDENTITY_PROVIDERS,
the first of them is meant, and credentials must be given, the four or a bearer token, whichever it takes: only those
of the sandbox's user are known.
Secrets are better set as variables: other users of a machine can see options.
`;

/** The command line cannot be understood; the message says why. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export type Command =
  | { readonly name: 'help' }
  | { readonly name: 'sign'; readonly provider: string; readonly credentials: UserCredentials }
  | {
      readonly name: 'upload';
      /** An absolute path. */
      readonly file: string;
      readonly service: string;
      readonly message: string;
      readonly apiKey: string;
      readonly provider: string;
      readonly credentials: UserCredentials;
      readonly format: Format;
      readonly version: 1 | 2;
    };

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
 * Reads the arguments after the program's name: an option stands above its variable, that above the local system's value.
 * The file is looked for from where the person stands, which npm tells as INIT_CWD.
 * @throws UsageError, or the system's error when API_KEYS_FILE is meant and cannot be read
 */
export function readCommand(args: readonly string[], env: NodeJS.ProcessEnv): Command {
  const { values, positionals } = parsed(args);
  const [name, file, ...rest] = positionals;
  if (values.help || name === undefined) return { name: 'help' };

  const provider = webAddress('provider', values.provider || env.ECHODROP_PROVIDER || localProvider(env));
  const credentials = readCredentials(provider, values, env);
  if (name === 'sign' && file === undefined) return { name, provider, credentials };
  if (name !== 'upload' || file === undefined || rest.length > 0) throw new UsageError('sign, or upload and one file');
  const service = webAddress('url', values.url || env.ECHODROP_URL || localService(env));
  const version = oneOf('api-version', ['2', '1'], values['api-version']) === '1' ? 1 : 2;
  if (version === 1 && 'bearer' in credentials) throw new UsageError('version 1 takes no bearer token');
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
  if (isWhole(credentials)) return credentials;
  throw new UsageError(
    `Credentials of a user of ${provider} are needed: consumer key and secret, token and its secret; or a bearer token.`,
  );
}

function isWhole(credentials: Record<keyof OAuthCredentials, string | undefined>): credentials is OAuthCredentials {
  return Object.values(credentials).every(Boolean);
}

function oneOf<const T extends string>(name: string, [usual, other]: readonly [T, T], given: string | undefined): T {
  const found = [usual, other].find((value) => value === (given ?? usual));
  if (found === undefined) throw new UsageError(`--${name} is ${usual} or ${other}`);
  return found;
}

function webAddress(name: string, address: string): string {
  if (!/^https?:$/.test(URL.parse(address)?.protocol ?? ''))
    throw new UsageError(`--${name} must be an http(s) address`);
  return address;
}
