import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { patienceMs } from '@echodrop/testkit/patience';
import { listen } from '@echodrop/testkit/servers/listen';
import { type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import { execa } from 'execa';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { NpmStart, root } from '../../deploy/local/npm-start.fixture.ts';
import { environmentAfter, examplesOf } from './examples.ts';

// Each page begins before `npm start` and ends with an upload. The sandbox provider replaces every kind of provider.
const parts = new AsyncDisposableStack();
let provider: Stack;
let tokens: { readonly origin: string };
let npm: NpmStart;
// Both pages for OAuth 1.0a use it.
let python: string;
beforeAll(async () => {
  provider = parts.use(await startStack({ services: ['sandbox-provider'] }));
  tokens = parts.use(await startTokenEndpoints());
  npm = parts.use(await NpmStart.prepare());
  python = parts.use(await mkdtempDisposable(join(tmpdir(), 'docs-python-'))).path;
});
afterEach(() => npm.killAll());
afterAll(() => parts.disposeAsync());

const password = 'A "quoted" word';

/** The endpoints that give the sandbox user's token: of OAuth 1.0a, and the login of Matrix, which ends with its logout. */
function startTokenEndpoints() {
  const { token } = sandbox;
  const responses: Record<string, string> = {
    request_token: 'oauth_token=temporary&oauth_token_secret=s&oauth_callback_confirmed=true',
    access_token: `oauth_token=${token.key}&oauth_token_secret=${token.secret}`,
    login: '{"user_id":"@mia:matrix.example","access_token":"sandbox-bearer","device_id":"A"}',
    logout: '{}',
  };
  const names: Record<string, string> = { request: 'request_token', access: 'access_token' };
  return listen(
    createServer(async (request, response) => {
      const name = new URL(request.url ?? '', 'http://x').pathname.split('/').at(-1) ?? '';
      const body = await text(request);
      const isForbidden = name === 'login' && JSON.parse(body).password !== password;
      response.end(isForbidden ? '{"errcode":"M_FORBIDDEN"}' : responses[names[name] ?? name]);
    }),
  );
}

/** What the operator has: addresses and credentials in place of those of the page. */
function replacements(): Record<string, string> {
  const { origin } = new URL(provider.provider);
  const { consumer, token } = sandbox;
  return {
    'https://social.example/api/account/verify_credentials.json': provider.provider,
    'https://social.example/api/oauth': tokens.origin,
    'https://blog.example/oauth1': tokens.origin,
    'https://matrix.example/_matrix/client/v3/login': `${tokens.origin}/login`,
    'https://matrix.example/_matrix/client/v3/logout': `${tokens.origin}/logout`,
    'https://login.example/realms/town/protocol/openid-connect/userinfo': `${origin}/userinfo`,
    'https://login.example/realms/town': origin,
    'https://mastodon.example': origin,
    'https://matrix.example': origin,
    'https://blog.example': origin,
    'http://127.0.0.1:8080': `http://127.0.0.1:${npm.portOf('gateway', 'PORT')}`,
    'http://127.0.0.1:8085': `http://127.0.0.1:${npm.portOf('sandbox-provider', 'PORT')}`,
    'your-access-token': 'sandbox-bearer',
    'consumer-key': consumer.key,
    'client-key': consumer.key,
    'consumer-secret': consumer.secret,
    'client-secret': consumer.secret,
    'your-token-secret': token.secret,
    'your-token': token.key,
    '~/.echodrop-python': python,
  };
}

test.each(['tutorial', 'mastodon', 'openid-connect', 'matrix', 'gnu-social', 'wordpress'])(
  'start/%s: its commands lead to an upload',
  async (page) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'start-page-'));
    const examples = await examplesOf(`start/${page}`, replacements());
    const script = examples.find(({ language }) => language === 'python');
    if (script) await writeFile(join(folder.path, 'get-token.py'), script.code);
    const commands = examples.filter(({ language }) => language === 'sh').map(({ code }) => code);
    const isStart = (code: string) => /^npm start$/m.test(code);
    const starting = commands.findIndex(isStart);
    const inFolder = (code: string) => code.replace(/^(.*get-token\.py)$/m, `(cd ${folder.path}; echo 123 | $1)`);
    const before = commands.slice(0, starting + 1).map((code) => inFolder(code).replace(/^npm start$/m, ''));

    // What people type at Matrix, whose password has to be valid within JSON.
    const input = `${password.replaceAll('"', '\\"')}\n`;
    const { printed, env } = await environmentAfter(before, { cwd: root, input });
    if (page !== 'tutorial') {
      expect(printed).not.toMatch(/^fail /m);
      expect(printed).toMatch(
        page === 'openid-connect' ? /^ok +It refuses/m : /^ok +It verifies the test user: subject ".*12345|sandbox/m,
      );
    }
    if (page === 'matrix') expect(printed).toContain('"access_token":"sandbox-bearer"');
    if (script) expect(printed).toContain(`${sandbox.token.key} ${sandbox.token.secret}`);

    npm.start(env);
    await npm.untilReady(page === 'tutorial' ? undefined : 5);
    const outputs = [];
    for (const code of commands.slice(starting + 1))
      outputs.push((await execa('sh', ['-ec', code], { cwd: root, timeout: patienceMs })).stdout);
    expect(outputs).toHaveLength(page === 'matrix' ? 2 : 1);
    expect(outputs[0]).toMatch(/"url":"http:\/\/[\d.:]+\/\w{10}"/);
    if (page === 'matrix') expect(outputs[1]).toBe('{}');
  },
);
