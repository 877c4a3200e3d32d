import { missingIn, readCaller } from '@echodrop/identity-provider/caller-in-answer';
import type { Provider } from '@echodrop/identity-provider/provider';
import { profileNames, providerProfiles } from '@echodrop/identity-provider/provider-profiles';
import { Secret } from '@echodrop/service/secret';
import { type Finding, note, ok, printable, wrong } from './finding.ts';
import { fieldsOf } from './response-kind.ts';
import { redactSecrets, type TestUser } from './test-user.ts';

interface Acceptance {
  readonly user: TestUser;
  readonly provider: Provider;
  readonly userIdSecret: Secret | undefined;
}

/** The identity of the accepted test user in `body`, or which fields are missing. Shows the names of fields only. */
export function* callerFindings(body: string, { user, provider, userIdSecret }: Acceptance): Generator<Finding> {
  const caller = readCaller(body, provider, userIdSecret ?? new Secret(''));
  if (!caller) return yield missingFields(body, provider, user);
  const { subject, userId, screenName } = caller;
  const quote = (text: string) => printable(redactSecrets(user, text));
  const isIdKnown = String(userId) === subject || userIdSecret !== undefined;
  const recorded = isIdKnown ? `, user.id in records ${userId}` : '';
  yield ok(`It verifies the test user: subject ${quote(subject)}${recorded}, screen name ${quote(screenName)}.`);
  if (!isIdKnown) yield note('The subject is not an integer. Set USER_ID_SECRET to see the user.id in records.');
}

function missingFields(body: string, provider: Provider, user: TestUser): Finding {
  const { subject, screenName } = provider.profile;
  const fields = fieldsOf(body) ?? {};
  const hasId = missingIn(body, provider) === 'name';
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
  const shown = names.slice(0, maxNames).map((name) => (/^[\w.:-]{1,40}$/.test(name) ? name : printable(name)));
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
