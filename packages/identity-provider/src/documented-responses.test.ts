import { Secret } from '@echodrop/service/secret';
import { providerResponses, type Software } from '@echodrop/testkit/provider/provider-responses';
import { expect, test } from 'vitest';
import type { Provider } from './provider.ts';
import { isProfileName, type ProfileName, profileNames, providerProfiles } from './provider-profiles.ts';
import { readCaller } from './read-caller.ts';

const secret = new Secret('a secret of this test');
const advertised = 'https://identity.example/verify';

function providerOf(profile: ProfileName): Provider {
  return { advertised, upstream: advertised, profile: providerProfiles[profile] };
}

function profileOf(software: Software): ProfileName {
  const name = providerResponses[software].profile;
  if (!isProfileName(name)) throw new Error(`${name} is not a profile`);
  return name;
}

test.each<[Software, string, bigint, string]>([
  ['x', '1059182745930317825', 1059182745930317825n, 'xenia'],
  ['gnuSocial', '3', 3n, 'gustav'],
  ['friendicaLikeTwitter', '43', 43n, 'frida'],
  ['friendica', '43', 43n, 'frida'],
  ['mastodon', '109348237410294711', 109348237410294711n, 'maren'],
  // Fixed values for non-numeric subjects: another hash would turn these users into other users.
  ['pleroma', 'AjnbIeL3kmD0YN6XGS', 3629586657095369806n, 'paula'],
  ['openIdConnect', '248289761001', 248289761001n, 'j.doe'],
  ['wordpress', '3', 3n, 'wanda'],
  ['matrix', '@max:matrix.example', 2794403684492548784n, '@max:matrix.example'],
])("%s's documented response has the subject %s, user id %i and name %s", (software, subject, userId, screenName) => {
  const { accepted, profile, ...documented } = providerResponses[software];
  expect(readCaller(accepted, providerOf(profileOf(software)), secret)).toEqual({
    provider: advertised,
    subject,
    userId,
    screenName,
  });
  expect(documented).toMatchObject({ subject, screenName });
  expect(providerProfiles[profileOf(software)].schemes).toEqual([documented.scheme]);
});

test('every profile has a documented response', () => {
  const shown = (Object.keys(providerResponses) as Software[]).map(profileOf);
  expect([...new Set(shown)].sort()).toEqual([...profileNames].sort());
});

const software = Object.keys(providerResponses) as Software[];
const mismatches = software.flatMap((each) =>
  profileNames.filter((profile) => profile !== profileOf(each)).map((profile) => [each, profile] as const),
);

test.each(mismatches)("%s's response has no caller for the profile %s", (each, profile) => {
  expect(readCaller(providerResponses[each].accepted, providerOf(profile), secret)).toBeUndefined();
});

test.each(software)("%s's refusal has no caller for any profile", (each) => {
  const { status, body } = providerResponses[each].refused;
  expect([401, 403]).toContain(status);
  for (const profile of profileNames) expect(readCaller(body, providerOf(profile), secret)).toBeUndefined();
});
