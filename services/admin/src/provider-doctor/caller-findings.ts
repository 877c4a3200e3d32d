import { missingIn, readCaller } from '@echodrop/identity-provider/caller-in-answer';
import type { Provider } from '@echodrop/identity-provider/provider';
import { profileNames, providerProfiles } from '@echodrop/identity-provider/provider-profiles';
import { Secret } from '@echodrop/service/secret';
import { fieldsOf } from './fields.ts';
import { type Finding, note, ok, shown, wrong } from './finding.ts';
import { type TestUser, withoutSecretsOf } from './test-user.ts';

interface Accepted {
  readonly user: TestUser;
  readonly provider: Provider;
  readonly userIdSecret: Secret | undefined;
}

/** Who the accepted test user is by the provider's answer `body`, or what of the profile it lacks; of fields only names are told. */
export function* callerFindings(body: string, { user, provider, userIdSecret }: Accepted): Generator<Finding> {
  const caller = readCaller(body, provider, userIdSecret ?? new Secret(''));
  if (!caller) return yield lackFinding(body, provider, user);
  const { subject, userId, screenName } = caller;
  const sent = (text: string) => shown(withoutSecretsOf(user, text));
  const isKnownId = String(userId) === subject || userIdSecret !== undefined;
  const recorded = isKnownId ? `, user.id in records ${userId}` : '';
  yield ok(`It verifies the test user: subject ${sent(subject)}${recorded}, screen name ${sent(screenName)}.`);
  if (!isKnownId)
    yield note('That subject is no integer: which user.id records will show is told where USER_ID_SECRET is set.');
}

function lackFinding(body: string, provider: Provider, user: TestUser): Finding {
  const { subject, screenName } = provider.profile;
  const fields = fieldsOf(body) ?? {};
  const hasId = missingIn(body, provider) === 'name';
  const hasName = !hasId && typeof fields[screenName] === 'string' && fields[screenName] !== '';
  const lacking = [
    ...(hasId ? [] : [`the user's id (${subject.join(' or ')})`]),
    ...(hasName ? [] : [`the screen name (${screenName})`]),
  ];
  const names = Object.keys(fields).map((name) => withoutSecretsOf(user, name));
  return wrong(
    `It accepts the test user, but its answer lacks what the profile looks for: ${lacking.join(' and ')}; it has ${list(names)}.${fittingProfiles(body, provider)}`,
  );
}

const mostNames = 20;

function list(names: readonly string[]): string {
  if (names.length === 0) return 'no fields';
  const more = names.length > mostNames ? ` and ${names.length - mostNames} more` : '';
  return names.slice(0, mostNames).map(asFieldName).join(', ') + more;
}

function asFieldName(name: string): string {
  return /^[\w.:-]{1,40}$/.test(name) ? name : shown(name);
}

function fittingProfiles(body: string, provider: Provider): string {
  const fitting = profileNames.filter((name) => {
    const profile = providerProfiles[name];
    const isAskedAlike = profile.signsRequests === provider.profile.signsRequests;
    return isAskedAlike && readCaller(body, { ...provider, profile }, new Secret('')) !== undefined;
  });
  return fitting.length > 0 ? ` The profile ${fitting.join(' or ')} would find both.` : '';
}
