import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type StandInProvider, startStandInProvider } from '@echodrop/testkit/provider/stand-in-provider';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { unlessMissing } from '@echodrop/testkit/unless-missing';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const clients = resolve(import.meta.dirname, '../../shared/clients');
const options = unlessMissing({ 'recorded clients': existsSync(clients) });

// The expected results in strict and historic mode, from the README of the recordings.
const malformed = '400 form_malformed';
const missing = '400 parameter_missing';
const unproven = '401 credentials_missing';
const recordings: readonly [name: string, strict: string, historic: string][] = [
  ['csharp-opentween', '200', '200'],
  ['csharp-sharex-v1', missing, '200'],
  ['curl-docs-v1', '200', '200'],
  ['curl-docs-v2', '200', '200'],
  ['java-twitter4j-3.0.5', '200', '200'],
  ['js-silver_bird', missing, '200'],
  ['objc-fhstwitterengine', malformed, '200'],
  ['perl-lwp-net-twitpic', '200', '200'],
  ['php-tmhoauth-0.621', '200', '200'],
  ['php-twistoauth-urlencoded-base64', malformed, malformed],
  ['php-twitpic-json', unproven, '200'],
  ['python2-libturpial', '200', '200'],
  ['qt-choqok-body', unproven, '200'],
  ['ruby-twitpic4r', '200', '200'],
];

const v1 = 'https://api.twitter.com/1/account/verify_credentials.json';

describe.each(['strict', 'historic'] as const)('recorded clients, %s', options, (compatibility) => {
  const parts = new AsyncDisposableStack();
  let stack: Stack;
  let provider: StandInProvider;

  beforeAll(async () => {
    provider = parts.use(
      await startStandInProvider({
        advertised: [v1, 'https://api.twitter.com/1.1/account/verify_credentials.json'],
        consumer: { key: 'ckey', secret: 'csecret' },
        token: { key: '12345-utoken', secret: 'tsecret' },
        response: { id: 12345, id_str: '12345', screen_name: 'recorded' },
      }),
    );
    stack = parts.use(
      await startStack({
        services: ['auth-verifier', 'gateway', 'probe-worker'],
        settings: {
          API_KEYS: 'APIKEY123',
          BASE_PATHS: '/,/api',
          CLIENT_COMPATIBILITY: compatibility,
          IDENTITY_PROVIDERS: provider.setting,
        },
      }),
    );
  });
  afterAll(() => parts.disposeAsync());

  describe.each(recordings)('%s', (name, strict, historic) => {
    const expected = compatibility === 'strict' ? strict : historic;

    test.each([
      ['as recorded', []],
      ['in pieces of 7 bytes', ['--chunk', '7']],
      ...(name.startsWith('curl-docs') ? [['below /api', ['--path', `/api/${name.slice(-1)}/upload.json`]]] : []),
    ] as [string, string[]][])(`%s gets ${expected}`, async (_how, options) => {
      const { stdout } = await execa(
        'node',
        ['replay.mjs', `captures/${name}.http`, '--url', stack.gateway, ...options],
        { cwd: clients },
      );
      const [head = '', body = ''] = stdout.replace(/^HTTP\/1.1 100 [^\n]*\n\r?\n/, '').split(/\r?\n\r?\n/);
      const reason = /<reason>(\w+)|"reason":"(\w+)"/.exec(body)?.slice(1).find(Boolean);
      expect([head.split(' ')[1], reason].filter(Boolean).join(' ')).toBe(expected);
      if (expected !== '200') return;
      for (const fact of [
        /width(>|":)220/,
        /height(>|":)84/,
        /size(>|":)597/,
        /type(>|":")png/,
        /screen_name(>|":")recorded/,
      ]) {
        expect(body).toMatch(fact);
      }
      expect(
        /<text>([^<]*)|"text":"([^"]*)"/
          .exec(body)
          ?.slice(1)
          .find((text) => text !== undefined),
      ).toBe(await captionSent(name));
    });
  });
});

async function captionSent(name: string): Promise<string> {
  const recorded = await readFile(resolve(clients, `captures/${name}.http`), 'utf8');
  return /name="message"\r\n(?:[^\r\n]+\r\n)*\r\n([^\r]*)\r\n--/.exec(recorded)?.[1] ?? '';
}
