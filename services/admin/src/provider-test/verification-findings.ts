import type { Provider } from '@echodrop/identity-provider/provider';
import { profileNames, providerProfiles } from '@echodrop/identity-provider/provider-profiles';
import { findMissing, objectIn, readCaller } from '@echodrop/identity-provider/read-caller';
import { Secret } from '@echodrop/service/secret';
import { quoteForTerminal } from '@echodrop/service/terminal-text';
import { type Finding, note, ok, wrong } from '../finding.ts';
import type { Queries } from './provider-queries.ts';
import { describeUnusable, kindOf } from './response-kind.ts';
import { authorizationOf, redactSecrets, type TestUser } from './test-user.ts';

interface Circumstances {
  readonly userIdSecret: Secret | undefined;
  /** Whether the clocks differ by more than providers accept in signatures. */
  readonly isSkewTooLarge: boolean;
}

/** Whether the provider verifies the test user, and if not, why. `authorization` is theirs, for the advertised address. */
export async function* verificationFindings(
  user: TestUser,
  authorization: string,
  queries: Queries,
  { userIdSecret, isSkewTooLarge }: Circumstances,
): AsyncGenerator<Finding> {
  const { provider } = queries;
  const attempt = await queries.send(authorization);
  if (!attempt.response) return yield wrong(`With the test user's credentials: ${attempt.failure.sentence}`);
  const { response } = attempt;
  const kind = kindOf(response);
  if (kind === 'acceptance') return yield* callerFindings(response.body, provider, user, userIdSecret);
  // Its headers may contain the credentials.
  if (kind !== 'refusal')
    return yield wrong(`For the test user's credentials, it ${describeUnusable(kind, { ...response, headers: {} })}.`);
  const refuses = `It refuses the test user's credentials (${response.status})`;
  if (!provider.profile.signsRequests)
    yield wrong(`${refuses}: the token is wrong, expired, or lacks the scope for this address.`);
  else if (isSkewTooLarge) yield wrong(`${refuses} because the clocks differ.`);
  else yield await refusedSignature(refuses, user, queries);
}

/** Tries signatures over other addresses until one is accepted; stops at a rate limit or without a response. */
async function refusedSignature(refuses: string, user: TestUser, queries: Queries): Promise<Finding> {
  let tried = 0;
  for (const address of otherSignedAddresses(queries.provider)) {
    const { response } = await queries.send(authorizationOf(user, queries.provider, address));
    const kind = response && kindOf(response);
    if (kind === 'acceptance')
      return wrong(`${refuses}: it checks signatures over ${address}. Advertise that address.`);
    if (kind === undefined || kind === 'rate limit') break;
    tried += 1;
  }
  return wrong(
    `${refuses}, and signatures over ${tried} other addresses too: one of the four is wrong or expired, or HMAC-SHA1 is not supported.`,
  );
}

const maxAddresses = 10;

/**
 * Addresses over which a provider may check signatures instead of the advertised one, likeliest first: the upstream address, its path at the
 * advertised host, and variants of scheme, trailing slash and port, such as a server behind a proxy inserts.
 */
function otherSignedAddresses({ advertised, upstream }: Provider): string[] {
  const { pathname, search } = new URL(upstream);
  const inBetween = new URL(pathname + search, advertised);
  const bases = [...new Set([advertised, inBetween.href, upstream])].map((address) => new URL(address));
  const near = bases.flatMap((base) => [base, otherScheme(base), otherSlash(base)]);
  const far = bases.flatMap((base) => [otherSlash(otherScheme(base)), otherPort(base), otherPort(otherScheme(base))]);
  const others = new Set([...near, ...far].map(({ href }) => href));
  others.delete(new URL(advertised).href);
  return [...others].slice(0, maxAddresses);
}

const otherScheme = changer('protocol', ({ protocol }) => (protocol === 'https:' ? 'http:' : 'https:'));
const otherSlash = changer('pathname', ({ pathname }) =>
  pathname.endsWith('/') ? pathname.slice(0, -1) : `${pathname}/`,
);
const otherPort = changer('port', ({ port, protocol }) => (port ? '' : protocol === 'https:' ? '80' : '443'));

function changer(part: 'protocol' | 'pathname' | 'port', change: (url: URL) => string): (url: URL) => URL {
  return (url) => Object.assign(new URL(url), { [part]: change(url) });
}

/** The identity of the accepted test user in `body`, or which fields are missing. Shows the names of fields only. */
function* callerFindings(body: string, provider: Provider, user: TestUser, userIdSecret?: Secret): Generator<Finding> {
  const caller = readCaller(body, provider, userIdSecret ?? new Secret(''));
  if (!caller) return yield missingFields(body, provider, user);
  const { subject, userId, screenName } = caller;
  const quote = (text: string) => quoteForTerminal(redactSecrets(user, text));
  const isIdKnown = String(userId) === subject || userIdSecret !== undefined;
  const recorded = isIdKnown ? `, user.id in records ${userId}` : '';
  yield ok(`It verifies the test user: subject ${quote(subject)}${recorded}, screen name ${quote(screenName)}.`);
  if (!isIdKnown) yield note('The subject is not an integer. Set USER_ID_SECRET to see the user.id in records.');
}

function missingFields(body: string, provider: Provider, user: TestUser): Finding {
  const { subject, screenName } = provider.profile;
  const fields = objectIn(body) ?? {};
  const hasId = findMissing(body, provider) === 'a name';
  const hasName = !hasId && typeof fields[screenName] === 'string' && fields[screenName] !== '';
  const missing = [
    ...(hasId ? [] : [`the user's id (${subject.join(' or ')})`]),
    ...(hasName ? [] : [`the screen name (${screenName})`]),
  ];
  const names = Object.keys(fields).map((name) => redactSecrets(user, name));
  return wrong(
    `It accepts the test user, but its response lacks ${missing.join(' and ')}; it has ${listNames(names)}.${fittingProfiles(body, provider)}`,
  );
}

const maxNames = 20;

function listNames(names: readonly string[]): string {
  if (names.length === 0) return 'no fields';
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : '';
  const shown = names.slice(0, maxNames).map((name) => (/^[\w.:-]{1,40}$/.test(name) ? name : quoteForTerminal(name)));
  return shown.join(', ') + more;
}

function fittingProfiles(body: string, provider: Provider): string {
  const fitting = profileNames.filter((name) => {
    const profile = providerProfiles[name];
    const takesSameProof = profile.signsRequests === provider.profile.signsRequests;
    return takesSameProof && readCaller(body, { ...provider, profile }, new Secret('')) !== undefined;
  });
  return fitting.length > 0 ? ` The profile ${fitting.join(' or ')} would find both.` : '';
}
