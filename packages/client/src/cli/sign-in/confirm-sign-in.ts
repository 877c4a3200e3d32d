import { createInterface } from 'node:readline';
import { isDeepStrictEqual } from 'node:util';
import { quotedName, visible } from '../../visible-text.ts';
import { type CommandContext, printNote, UsageError } from '../command-context.ts';
import type { Profile } from '../profiles/profiles.ts';
import { requestedScopes } from './authorization-client.ts';
import type { SiteProvider } from './site-settings.ts';

/** What a site names for a sign-in: where the user signs in, as which client, with which scopes, and where the token goes. */
export type SignInRequest = Pick<Profile, 'site' | 'service' | 'provider' | 'providerName' | 'authorization'>;

interface Confirmation {
  /** The profile that the sign-in replaces. */
  readonly replaced: Profile | undefined;
  /** Whether the user has confirmed the sign-in with an option. */
  readonly isConfirmed: boolean | undefined;
}

/** How the program asks this provider for a token. @throws Error for a scope that is not allowed */
export function authorizationAt(provider: SiteProvider): NonNullable<Profile['authorization']> {
  const scopes = [...requestedScopes(provider)];
  if (provider.profile === 'mastodon') return { issuer: new URL(provider.provider).origin, scopes };
  return { issuer: provider.issuer, clientId: provider.clientId, scopes };
}

/**
 * Asks the user before the first sign-in at a site and provider, and again if the site has changed its request. A hostile site can name any
 * provider, and the client of another program at this provider. @throws UsageError unless the user agrees
 */
export async function confirmSignIn(
  context: CommandContext,
  request: SignInRequest,
  { replaced, isConfirmed }: Confirmation,
): Promise<void> {
  if (replaced && isSame(replaced, request)) return;
  // This is printed with `--yes`, too: the output of a script then shows what the script accepted.
  printNote(context, describe(request, replaced));
  if (isConfirmed) return;
  const { stdin, stderr } = context;
  if (!stdin.isTTY || !stderr.isTTY)
    throw new UsageError('No terminal to confirm this sign-in. Check the lines above, then pass --yes.');
  stderr.write('Sign in? [y/N] ');
  if (!/^y(es)?$/i.test((await readLine(stdin)).trim())) throw new UsageError('Not signed in.');
}

/** A site may change the name of a provider: no token depends on the name. */
function isSame(stored: Profile, { site, service, provider, authorization }: SignInRequest): boolean {
  return (
    stored.site === site &&
    new URL(stored.service).origin === new URL(service).origin &&
    stored.provider === provider &&
    // The site has not chosen client and scopes of a token that the user gives.
    (authorization === undefined || isDeepStrictEqual(stored.authorization, authorization))
  );
}

function describe(request: SignInRequest, replaced: Profile | undefined): string {
  const earlier = new Map(replaced && rowsOf(replaced));
  const rows = rowsOf(request).map(([name, value]) => {
    const before = earlier.get(name) ?? value;
    return `  ${name.padEnd(18)} ${before === value ? value : `${value} (before: ${before})`}`;
  });
  return [
    replaced ? 'Check this sign-in, which differs from the last one:' : 'Check this sign-in:',
    ...rows,
    'The operator of the upload service gets the token. It can upload and delete in your name, and do what the scopes allow.',
    'Sign in only if you trust the site.',
    ...(request.authorization?.clientId === undefined
      ? []
      : ['Check that the client is for uploads: a token for another program could do more.']),
  ].join('\n');
}

function rowsOf({ site, service, provider, providerName, authorization }: SignInRequest): [string, string][] {
  const rows: [string, string][] = [
    ['Site', addressOf(site)],
    ['Upload service', addressOf(service)],
    ['Identity provider', `${addressOf(provider)}, ${quotedName(providerName)}`],
  ];
  if (!authorization) return [...rows, ['Token', 'from standard input']];
  const { issuer, clientId, scopes } = authorization;
  return [
    ...rows,
    ['Sign in at', addressOf(issuer)],
    ['Client', clientId === undefined ? 'a new registration of echodrop' : quoteExactly(clientId)],
    ['Scopes', `${visible(scopes.join(', or '))} (who you are)`],
  ];
}

/** Blanks are escapes: two clients never look alike. */
function quoteExactly(text: string): string {
  return JSON.stringify(text).replace(/[^!-~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** An address as the program uses it: names of hosts are in ASCII, so that no letter looks like another one. */
function addressOf(address: string): string {
  return new URL(address).href;
}

/** The next line; empty at the end of the input. Without a terminal mode of its own, so that Ctrl-C ends the process. */
async function readLine(input: NodeJS.ReadableStream): Promise<string> {
  const lines = createInterface({ input, terminal: false });
  try {
    for await (const line of lines) return line;
    return '';
  } finally {
    // A terminal that is still read keeps the process from ending.
    lines.close();
  }
}
