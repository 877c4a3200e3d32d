import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidSettings } from '@echodrop/service/env';
import { afterAll, expect, test } from 'vitest';
import { readConfig } from './config.ts';

const folder = mkdtempSync(join(tmpdir(), 'sandbox-users-'));
afterAll(() => rmSync(folder, { recursive: true }));

function read(text: string) {
  const file = join(folder, 'users.json');
  writeFileSync(file, text);
  return readConfig({ SANDBOX_USERS_FILE: file }).SANDBOX_USERS_FILE;
}

function faults(env: NodeJS.ProcessEnv | string): readonly string[] {
  try {
    if (typeof env === 'string') read(env);
    else readConfig(env);
    return [];
  } catch (error) {
    if (error instanceof InvalidSettings) return error.faults;
    throw error;
  }
}

test('without a file there is the user that docs/settings.md names', () => {
  expect(readConfig({}).SANDBOX_USERS_FILE).toMatchObject({
    consumers: [{ key: 'sandbox-consumer', secret: 'sandbox-consumer-secret' }],
    users: [{ id: 12345n, screenName: 'sandbox', bearerTokens: ['sandbox-bearer'] }],
  });
});

test('a file has users with any tokens, ids that are exact beyond 2^53, and ids that are no numbers', () => {
  const text = `{
    "consumers": [{ "key": "app", "secret": "app-secret" }],
    "users": [
      { "id": 18446744073709551615, "screen_name": "mia", "name": "Mia <3",
        "oauth_tokens": [{ "token": "t", "secret": "s" }, { "token": "u", "secret": "s" }], "bearer_tokens": ["b=="] },
      { "id": "9hptFmUF3ztxYh3Svg", "screen_name": "ada" },
      { "id": 0, "screen_name": "null" }
    ]
  }`;
  expect(read(text)).toEqual({
    consumers: [{ key: 'app', secret: 'app-secret' }],
    users: [
      {
        id: 2n ** 64n - 1n,
        screenName: 'mia',
        name: 'Mia <3',
        oauthTokens: [
          { token: 't', secret: 's' },
          { token: 'u', secret: 's' },
        ],
        bearerTokens: ['b=='],
      },
      { id: '9hptFmUF3ztxYh3Svg', screenName: 'ada', name: 'ada', oauthTokens: [], bearerTokens: [] },
      { id: 0n, screenName: 'null', name: 'null', oauthTokens: [], bearerTokens: [] },
    ],
  });
});

test('without consumers the built-in one is known', () => {
  expect(read('{"users":[{"id":1,"screen_name":"mia"}]}').consumers).toEqual([
    { key: 'sandbox-consumer', secret: 'sandbox-consumer-secret' },
  ]);
});

test.each([
  '18446744073709551616',
  '-9223372036854775809',
  '1.5',
  '1e30',
  '"12345"',
  '" -1 "',
  '""',
  'null',
  '[]',
  'true',
])('%s is no id', (id) => {
  expect(faults(`{"users":[{"id":${id},"screen_name":"mia"}]}`)).toEqual([
    'SANDBOX_USERS_FILE is faulty: users[0].id must be an integer of at most 64 bits, or a string that is no number',
  ]);
});

test('all faults of the file are told at once, with those of other settings, and no value of it is', () => {
  const file = join(folder, 'faulty.json');
  const hidden = 'hunter 2';
  const faulty = {
    consumers: [{ key: 'app', secret: hidden }],
    users: [
      { id: 1, screen_name: hidden, bearer_tokens: [hidden, 5] },
      { screen_name: 'ada', oauth_tokens: [{ token: 'ada', [hidden]: hidden }] },
    ],
    [hidden]: 1,
  };
  writeFileSync(file, JSON.stringify(faulty));
  const told = faults({ SANDBOX_USERS_FILE: file, SANDBOX_BEHAVIOUR: 'odd', SANDBOX_SLOW_SECONDS: '121', PORT: 'x' });
  const of = 'SANDBOX_USERS_FILE is faulty:';
  expect(told).toHaveLength(11);
  expect(told).toEqual(
    expect.arrayContaining([
      `${of} consumers[0].secret must be 1 to 256 visible ASCII characters`,
      `${of} users[0].screen_name must be 1 to 64 letters, digits, dots, hyphens and underscores`,
      `${of} users[0].bearer_tokens[0] must be a bearer token (RFC 6750, section 2.1)`,
      `${of} users[0].bearer_tokens[1] must be of type string`,
      `${of} users[1].id must be an integer of at most 64 bits, or a string that is no number`,
      `${of} users[1].oauth_tokens[0].secret is required`,
      `${of} users[1].oauth_tokens[0] has a field that is not known`,
      `${of} what it holds has a field that is not known`,
      'SANDBOX_SLOW_SECONDS must be a whole number from 1 to 120',
    ]),
  );
  expect(told.join()).not.toContain(hidden);
});

test.each([
  ['{"users":[{"id":1,"secret":"hunter2"', 'is not JSON'],
  ['[]', 'is faulty: what it holds must be of type object'],
  ['{}', 'is faulty: users is required'],
  ['{"users":[]}', 'is faulty: users must not be empty'],
])('%s is told as what it is', (text, fault) => {
  expect(faults(text)).toEqual([`SANDBOX_USERS_FILE ${fault}`]);
});

test('a file that is not there is told', () => {
  expect(faults({ SANDBOX_USERS_FILE: join(folder, 'none') })).toEqual(['SANDBOX_USERS_FILE cannot be read (ENOENT)']);
});

test('whatever must be one user’s alone is told where it is there twice', () => {
  const user = { oauth_tokens: [{ token: 't', secret: 's' }], bearer_tokens: ['b'] };
  const app = { key: 'app', secret: 's' };
  const text = JSON.stringify({
    consumers: [app, app],
    users: [
      { id: 1, screen_name: 'Mia', ...user },
      { id: 1, screen_name: 'mia', ...user },
    ],
  });
  expect(faults(text)).toEqual(
    [
      'consumers[1].key',
      'users[1].id',
      'users[1].screen_name',
      'users[1].oauth_tokens[0].token',
      'users[1].bearer_tokens[0]',
    ].map((path) => `SANDBOX_USERS_FILE is faulty: ${path} is there twice`),
  );
});
