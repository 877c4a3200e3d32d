import { mkdtempDisposable, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeUnlessMissing } from '@echodrop/testkit/describe-with-ops-checkers';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { type Stack, startStack } from '@echodrop/testkit/start-stack';
import { upload } from '@echodrop/testkit/upload';
import { execa, execaSync } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Example, environmentAfter, examplesOf } from './examples.ts';

const works = (file: string, ...args: string[]) => !execaSync(file, args, { reject: false }).failed;
const missing = [
  works('curl', '--version') || 'curl',
  works('python3', '-c', 'import requests, requests_oauthlib') || "Python's requests-oauthlib",
  works('php', '-r', 'curl_init();') || 'PHP with curl',
].filter((name) => name !== true);

describeUnlessMissing(
  'the examples for client developers',
  { missing: missing.join(', '), variable: 'REQUIRE_CLIENTS' },
  () => {
    const parts = new AsyncDisposableStack();
    let stack: Stack;
    let folder: string;
    beforeAll(async () => {
      stack = parts.use(await startStack({ services: ['sandbox-provider', 'auth-verifier', 'gateway', 'site'] }));
      folder = parts.use(await mkdtempDisposable(join(tmpdir(), 'examples-'))).path;
      await writeFile(join(folder, 'photo.jpg'), await samplePhoto('jpg', { width: 64, height: 48 }));
      await symlink(join(import.meta.dirname, '../../packages/oauth/node_modules'), join(folder, 'node_modules'));
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

    /** Runs the examples of a page one after the other. @returns what each printed, except those that only set variables */
    async function outputsOf(page: string): Promise<string[]> {
      const examples = await examplesOf(page, {
        'http://127.0.0.1:8080': stack.gateway,
        'http://127.0.0.1:8085': new URL(stack.provider).origin,
        '4AaBXzv6nZ': await publishedId(),
        'https://media.example': stack.site,
      });
      const runnable = examples.filter(({ language }) => programs[language]);
      const isSetUp = ({ code }: Example) => code.split('\n').every((line) => /^(export |$)/.test(line));
      const { env } = await environmentAfter(runnable.filter(isSetUp).map(({ code }) => code));
      const outputs: string[] = [];
      for (const { language, code } of runnable.filter((example) => !isSetUp(example))) {
        const [name, file, ...args] = programs[language] ?? expect.fail();
        await writeFile(join(folder, name), code);
        const options = { cwd: folder, env, timeout: 60_000 };
        outputs.push((await execa(file, [...args, name], options)).stdout);
      }
      return outputs;
    }

    const record = /"url":"http:\/\/[\d.:]+\/\w{10}"/;
    const address = /^http:\/\/[\d.:]+\/\w{10}$/;

    test('upload: curl, JavaScript, Python and PHP', async () => {
      expect(await outputsOf('integrate/upload')).toEqual(
        [record, address, address, address].map((each) => expect.stringMatching(each)),
      );
    });

    test('credentials: JavaScript and Python sign, curl uses version 1', async () => {
      expect(await outputsOf('integrate/credentials')).toEqual(
        [address, address, record].map((each) => expect.stringMatching(each)),
      );
    });

    test('retries: a repeat returns the same record', async () => {
      const [repeated = '', python] = await outputsOf('integrate/retries');
      const [first, second] = repeated.match(/\{.*?\}\}/g) ?? [];
      expect(first).toMatch(record);
      expect(second).toBe(first);
      expect(python).toMatch(/^200 \{"id"/);
    });

    test('lists and deletion', async () => {
      const [list, all = '', deleted] = await outputsOf('integrate/lists');
      expect(list).toMatch(/^\{"media":\[\{"id"/);
      expect(all.split('\n').length).toBeGreaterThan(2);
      expect(deleted).toBe('204');
    });

    test('oEmbed', async () => {
      expect((await outputsOf('integrate/embeds'))[0]).toMatch(/"version":"1.0"/);
    });
  },
);
