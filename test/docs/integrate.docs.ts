import { mkdir, mkdtempDisposable, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { patienceMs, patientSettings } from '@echodrop/testkit/patience';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { unlessMissing } from '@echodrop/testkit/unless-missing';
import { upload } from '@echodrop/testkit/upload';
import { execa, execaSync, type Result } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Example, environmentAfter, examplesOf } from './examples.ts';

const works = (file: string, ...args: string[]) => !execaSync(file, args, { reject: false }).failed;
const options = unlessMissing({
  curl: works('curl', '--version'),
  "Python's requests-oauthlib": works('python3', '-c', 'import requests, requests_oauthlib'),
  'PHP with curl': works('php', '-r', 'curl_init();'),
});

describe('the examples for client developers', options, () => {
  const parts = new AsyncDisposableStack();
  let stack: Stack;
  let folder: string;
  beforeAll(async () => {
    stack = parts.use(
      await startStack({
        settings: patientSettings,
        services: ['sandbox-provider', 'auth-verifier', 'gateway', 'site'],
      }),
    );
    folder = parts.use(await mkdtempDisposable(join(tmpdir(), 'examples-'))).path;
    await writeFile(join(folder, 'photo.jpg'), await samplePhoto('jpg', { width: 64, height: 48 }));
    await mkdir(join(folder, 'node_modules'));
    for (const [name, of] of [
      ['oauth-1.0a', '../../packages/oauth'],
      ['tus-js-client', '../..'],
    ] as const)
      await symlink(join(import.meta.dirname, of, 'node_modules', name), join(folder, 'node_modules', name));
    const cli = join(import.meta.dirname, '../../packages/client/src/cli/main.ts');
    await mkdir(join(folder, 'bin'));
    await writeFile(join(folder, 'bin/echodrop'), `#!/bin/sh\nexec '${process.execPath}' '${cli}' "$@"\n`, {
      mode: 0o755,
    });
  });
  afterAll(() => parts.disposeAsync());

  async function publishedId(): Promise<string> {
    const media = await samplePhoto('jpg', { width: 64, height: 48 });
    return JSON.parse((await upload(stack, { media })).text).id;
  }

  const programs: Record<string, readonly [name: string, ...command: [string, ...string[]]]> = {
    sh: ['example.sh', 'sh', '-e'],
    js: ['example.mjs', process.execPath],
    python: ['example.py', 'python3'],
    php: ['example.php', 'php'],
  };

  /** Runs the examples of a page one after the other, except those that only set variables. `values` replace their variables. */
  async function run(page: string, values: Record<string, string> = {}): Promise<Result[]> {
    const examples = await examplesOf(page, {
      'http://127.0.0.1:8080': stack.gateway,
      'http://127.0.0.1:8085': new URL(stack.provider).origin,
      '4AaBXzv6nZ': await publishedId(),
      'https://media.example': stack.site,
    });
    const runnable = examples.filter(({ language }) => programs[language]);
    const isSetUp = ({ code }: Example) => code.split('\n').every((line) => /^(export |$)/.test(line));
    const { env } = await environmentAfter(runnable.filter(isSetUp).map(({ code }) => code));
    const path = `${join(folder, 'bin')}:${process.env['PATH']}`;
    const results: Result[] = [];
    for (const { language, code } of runnable.filter((example) => !isSetUp(example))) {
      const [name, file, ...args] = programs[language] ?? expect.fail();
      await writeFile(join(folder, name), code);
      const options = { cwd: folder, env: { ...env, PATH: path, ...values }, timeout: patienceMs, reject: false };
      results.push(await execa(file, [...args, name], options));
    }
    return results;
  }

  /** What the examples of a page print. */
  async function outputsOf(page: string): Promise<string[]> {
    return (await run(page)).map(({ failed, stdout, stderr }) => (failed ? expect.fail(`${stderr}`) : `${stdout}`));
  }

  const record = /"url":"http:\/\/[\d.:]+\/\w{10}"/;
  const address = /^http:\/\/[\d.:]+\/\w{10}$/;

  test('upload: curl, JavaScript, Python and PHP', async () => {
    expect(await outputsOf('integrate/upload')).toEqual(
      [record, address, address, address].map((each) => expect.stringMatching(each)),
    );
  });

  test('credentials: JavaScript, Python and `echodrop sign` sign, curl uses version 1', async () => {
    expect(await outputsOf('integrate/credentials')).toEqual(
      [address, address, record, record].map((each) => expect.stringMatching(each)),
    );
  });

  test('retries: a repeat returns the same record', async () => {
    const [repeated = '', python] = await outputsOf('integrate/retries');
    const [first, second] = repeated.match(/\{.*?\}\}/g) ?? [];
    expect(first).toMatch(record);
    expect(second).toBe(first);
    expect(python).toMatch(address);
  });

  test('resumable uploads: tus-js-client, and curl', async () => {
    const [page, printed] = await outputsOf('integrate/resumable');
    expect(page).toMatch(address);
    expect(printed).toMatch(record);
  });

  test('lists and deletion', async () => {
    const [list, all = '', deleted] = await outputsOf('integrate/lists');
    expect(list).toMatch(/^\{"media":\[\{"id"/);
    expect(all.split('\n').length).toBeGreaterThan(2);
    expect(deleted).toBe('204');
  });

  test.each(['upload', 'credentials', 'retries', 'resumable', 'lists'])(
    '%s: every example fails if it is refused',
    async (page) => {
      const results = await run(`integrate/${page}`, { API_KEY: 'unknown', TOKEN: 'unknown' });
      for (const { command, exitCode, stdout, stderr } of results)
        expect({ command, exitCode, output: `${stdout}${stderr}` }).toEqual({
          command,
          exitCode: expect.toSatisfy((status) => status > 0),
          output: expect.stringMatching(/40[14]|"reason"/),
        });
    },
  );

  test('oEmbed', async () => {
    expect((await outputsOf('integrate/embeds'))[0]).toMatch(/"version":"1.0"/);
  });
});
