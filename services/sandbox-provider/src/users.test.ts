import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { settingFaults } from '@echodrop/service/setting-faults.fixture';
import { afterAll, expect, test } from 'vitest';
import { readConfig } from './config.ts';

const folder = mkdtempSync(join(tmpdir(), 'sandbox-users-'));
afterAll(() => rmSync(folder, { recursive: true }));

function read(text: string) {
  const file = join(folder, 'users.json');
  writeFileSync(file, text);
  return readConfig({ SANDBOX_USERS_FILE: file }).SANDBOX_USERS_FILE;
}

const faults = (env: NodeJS.ProcessEnv | string) =>
  settingFaults(() => (typeof env === 'string' ? read(env) : readConfig(env)));

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

const mia = { id: 1, screen_name: 'mia' };

test.each([
  [{ users: [{ ...mia, id: 1.5 }] }, 'users[0].id must be an integer or a string'],
  [{ users: [{ ...mia, screen_name: 'a b' }] }, 'users[0].screen_name must be 1 to 64 letters'],
  [{ users: [{ ...mia, bearer_tokens: ['a b'] }] }, 'users[0].bearer_tokens[0] must be a bearer token'],
  [{ users: [{ ...mia, oauth_tokens: [{ token: 't' }] }] }, 'users[0].oauth_tokens[0].secret '],
  [{ users: [{ ...mia, pasword: 'x' }] }, 'users[0] '],
  [{ users: [mia], consumers: [{ key: 'app', secret: '' }] }, 'consumers[0].secret must be 1 to 256'],
  [{ users: [] }, 'users '],
  [{}, 'users '],
])('names the fault of %j', (content, fault) => {
  const text = expect.stringContaining(`SANDBOX_USERS_FILE is invalid: ${fault}`);
  expect(faults(JSON.stringify(content))).toEqual([text]);
});

test('reports a file that is not JSON, and a missing one', () => {
  expect(faults('{"users":[{"id":1,"secret":"hunter2"')).toEqual(['SANDBOX_USERS_FILE is not JSON']);
  expect(faults({ SANDBOX_USERS_FILE: join(folder, 'none') })).toEqual(['SANDBOX_USERS_FILE cannot be read (ENOENT)']);
});
