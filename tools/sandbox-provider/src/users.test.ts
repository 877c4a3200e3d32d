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

test('without a file, has the user of docs/reference/settings.md', () => {
  expect(readConfig({}).SANDBOX_USERS_FILE).toMatchObject({
    consumers: [{ key: 'sandbox-consumer', secret: 'sandbox-consumer-secret' }],
    users: [{ id: 12345n, screenName: 'sandbox', bearerTokens: ['sandbox-bearer'] }],
  });
});

test('reads users with any tokens, exact large ids, and string ids', () => {
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

test('without consumers, has the default consumer', () => {
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
])('rejects the id %s', (id) => {
  expect(faults(`{"users":[{"id":${id},"screen_name":"mia"}]}`)).toEqual([
    'SANDBOX_USERS_FILE is invalid: users[0].id must be an integer of at most 64 bits, or a string that is not a number',
  ]);
});

test('reports all faults of the file and other settings at once, without values', () => {
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
  const found = faults({ SANDBOX_USERS_FILE: file, OPS_PORT: '65536', PORT: 'x' });
  const prefix = 'SANDBOX_USERS_FILE is invalid:';
  expect(found).toHaveLength(10);
  expect(found).toEqual(
    expect.arrayContaining([
      `${prefix} consumers[0].secret must be 1 to 256 visible ASCII characters`,
      `${prefix} users[0].screen_name must be 1 to 64 letters, digits, dots, hyphens and underscores`,
      `${prefix} users[0].bearer_tokens[0] must be a bearer token (RFC 6750, section 2.1)`,
      `${prefix} users[0].bearer_tokens[1] must be of type string`,
      `${prefix} users[1].id must be an integer of at most 64 bits, or a string that is not a number`,
      `${prefix} users[1].oauth_tokens[0].secret is required`,
      `${prefix} users[1].oauth_tokens[0] has an unknown field`,
      `${prefix} its content has an unknown field`,
      expect.stringMatching(/^OPS_PORT must be /),
    ]),
  );
  expect(found.join()).not.toContain(hidden);
});

test.each([
  ['{"users":[{"id":1,"secret":"hunter2"', 'is not JSON'],
  ['[]', 'is invalid: its content must be of type object'],
  ['{}', 'is invalid: users is required'],
  ['{"users":[]}', 'is invalid: users must not be empty'],
])('reports the fault of %s', (text, fault) => {
  expect(faults(text)).toEqual([`SANDBOX_USERS_FILE ${fault}`]);
});

test('reports a missing file', () => {
  expect(faults({ SANDBOX_USERS_FILE: join(folder, 'none') })).toEqual(['SANDBOX_USERS_FILE cannot be read (ENOENT)']);
});

test('reports duplicates of ids, names and tokens', () => {
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
    ].map((path) => `SANDBOX_USERS_FILE is invalid: ${path} is a duplicate`),
  );
});
