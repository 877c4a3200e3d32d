import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeWithBrowser } from '@echodrop/testkit/browser/describe-with-browser';
import { openTab } from '@echodrop/testkit/browser/watched-tab';
import { patienceMs } from '@echodrop/testkit/patience';
import { type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import { unlessMissing } from '@echodrop/testkit/unless-missing';
import { execa } from 'execa';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, beforeEach, describe, expect, type TestContext, test } from 'vitest';
import { type ProviderStandIn, startProvider } from './cli/sign-in/provider.fixture.ts';
import {
  type BuiltPackage,
  buildPackage,
  examplesIn,
  findNode,
  installPackage,
  nodeVersions,
  runInApp,
  startPages,
} from './package.fixture.ts';

const parts = new AsyncDisposableStack();
let built: BuiltPackage;
let obstacle: string | undefined;
let provider: ProviderStandIn;
let stack: Stack;
let pages: Awaited<ReturnType<typeof startPages>>;

beforeAll(async () => {
  built = parts.use(await buildPackage());
});
beforeAll(async () => {
  obstacle = await installPackage(built);
});
beforeAll(async () => {
  provider = parts.use(await startProvider());
  pages = parts.use(await startPages());
  pages.folder = join(built.built, 'lib');
  provider.validTokens.add('given');
  stack = parts.use(
    await startStack({
      services: ['sandbox-provider', 'auth-verifier', 'gateway', 'site'],
      settings: { IDENTITY_PROVIDERS: `mastodon ${verifyAddress()}`, CORS_ORIGINS: pages.origin },
    }),
  );
  Object.assign(provider.settings, { upload: stack.gateway, apiKey: sandbox.apiKey });
});
afterAll(() => parts.disposeAsync());

const verifyAddress = () => `${provider.origin}/api/v1/accounts/verify_credentials`;
const clientOptions = () =>
  JSON.stringify({
    service: stack.gateway,
    apiKey: sandbox.apiKey,
    provider: verifyAddress(),
    credentials: { bearer: 'given' },
  });

const unlessInstalled = ({ skip }: TestContext) => skip(obstacle !== undefined, obstacle);

describe('the tarball', () => {
  const bin = (name: string) => join(import.meta.dirname, '../node_modules/.bin', name);
  const lib = async () => {
    const names = await readdir(join(built.built, 'lib'));
    return Promise.all(
      names.map(async (name) => [name, await readFile(join(built.built, 'lib', name), 'utf8')] as const),
    );
  };

  test('has licence, sources, and no reference to the workspace', async () => {
    const manifest = JSON.parse(await readFile(join(built.built, 'package.json'), 'utf8'));
    expect(manifest).toMatchObject({ name: '@echodrop/client', license: 'MIT', sideEffects: false });
    // npm refuses provenance without it.
    expect(manifest.repository).toEqual({ type: 'git', url: 'git+https://code.example/echodrop.git' });
    for (const range of Object.values(manifest.dependencies)) expect(range).toMatch(/^\^\d/);
    const { stdout } = await execa('tar', ['tzf', built.tarball]);
    for (const path of [
      'LICENSE',
      'README.md',
      'THIRD-PARTY-LICENSES',
      'src/client/node.ts',
      'src/oauth/signed-get.ts',
    ])
      expect(stdout.split('\n')).toContain(`package/${path}`);
    expect(await readFile(join(built.built, 'README.md'), 'utf8')).not.toMatch(/\]\((?!https?:)/);
    for (const [, code] of await lib()) expect(code).not.toMatch(/\b(from|import) ?\(?['"]@echodrop\//);
  });

  test('is as small as docs/integrate/javascript.md says', async () => {
    const page = await readFile(join(import.meta.dirname, '../../../docs/integrate/javascript.md'), 'utf8');
    const [, documented] = /tarball is about (\d+) kB/.exec(page) ?? [];
    const { size } = await stat(built.tarball);
    expect(Math.abs(size / 1000 - Number(documented))).toBeLessThan(0.1 * Number(documented));
  });

  test('needs no node: module in browsers', async () => {
    const files = new Map(await lib());
    const waiting = ['browser.js'];
    for (const file of waiting) {
      const code = files.get(file) ?? expect.fail(`no ${file}`);
      for (const [, specifier = ''] of code.matchAll(/^(?:import|export)\b[^'";]*['"]([^'"]+)['"]/gm)) {
        expect(specifier).toMatch(/^\.\/[\w.-]+\.js$/);
        if (!waiting.includes(specifier.slice(2))) waiting.push(specifier.slice(2));
      }
    }
  });

  test('resolves to its browser entry in a bundler for browsers', async (context) => {
    unlessInstalled(context);
    await writeFile(join(built.app, 'page.js'), "export * from '@echodrop/client';");
    await using bundle = await rolldown({ cwd: built.app, input: 'page.js', platform: 'browser' });
    const [page] = (await bundle.generate()).output;
    const entries = page.moduleIds.flatMap((id) => /\/client\/lib\/(browser|node|cli)\.js$/.exec(id)?.[1] ?? []);
    expect(entries).toEqual(['browser']);
  });

  test('passes publint', async () => {
    const { stdout, exitCode } = await execa(bin('publint'), ['--strict', built.tarball], { reject: false });
    expect({ exitCode, stdout }).toMatchObject({ exitCode: 0 });
  });

  test('has correct types wherever ESM is imported', async () => {
    const { checkPackage, createPackageFromTarballData } = await import('@arethetypeswrong/core');
    const result = await checkPackage(createPackageFromTarballData(await readFile(built.tarball)));
    const problems = result.types ? result.problems : expect.fail('no types');
    // These two resolve CommonJS, which the package lacks.
    const ofEsm = problems.filter(
      (each) => !('resolutionKind' in each) || !/^node(10|16-cjs)$/.test(each.resolutionKind),
    );
    expect(ofEsm).toEqual([]);
  });
});

for (const version of nodeVersions) {
  const node = findNode(version) ?? '';
  describe(`installed, on Node ${version}`, unlessMissing({ 'Node 20 and 24': node !== '' }), () => {
    beforeEach(unlessInstalled);

    const documented = async (language: 'js' | 'sh') =>
      (await examplesIn(language))
        .replaceAll('https://upload.example', stack.gateway)
        .replaceAll(/https:\/\/(photos|social)\.example/g, provider.origin)
        .replaceAll('my-key', sandbox.apiKey)
        // No terminal to confirm the sign-in.
        .replaceAll('echodrop login', 'echodrop login --yes');

    const runProgram = async (code: string, flags: readonly string[] = []) => {
      await writeFile(join(built.app, 'program.js'), code);
      return (await runInApp(built, node, ['node', ...flags, 'program.js'])).stdout;
    };

    test('`node` is this version', async () => {
      expect((await runInApp(built, node, ['node', '--version'])).stdout).toMatch(new RegExp(`^v${version}\\.`));
    });

    test('the documented program runs', async () => {
      expect(await runProgram(await documented('js'))).toMatch(
        /^\d+ of \d+ bytes\n[\s\S]*http:\/\/[\w.:]+\/\w{10} 42n\n415 media_unsupported$/,
      );
    });

    test('the documented commands run', async () => {
      const { stdout, stderr } = await runInApp(built, node, [
        'timeout',
        String(patienceMs / 1000),
        'sh',
        '-c',
        `set -e\n${await documented('sh')}`,
      ]);
      expect(stdout).toMatch(/^Signed in as mia at Town\.\n/);
      expect(stdout).toMatch(/^\[!\[Photo by mia\]\(http\S+\/large\.jpg\)\]\(http\S+\)$/m);
      expect(stdout).toMatch(/^\{"file":"standard input","uploaded":true,"record":\{"id":"\w{10}"/m);
      expect(stdout).toMatch(/\ndeleted \w{10}\nSigned out: mia at Town\.$/);
      expect(stderr).toMatch(/^Check this sign-in:\n(?:.*\n)+To sign in with Town, open this URL/);
    });

    test('an upload whose response stalls fails, also after a garbage collection', async () => {
      const program = `
        import { createServer } from 'node:http';
        import { setTimeout as sleep } from 'node:timers/promises';
        import { EchodropClient } from '@echodrop/client';
        const server = createServer((request, response) => {
          request.resume();
          response.writeHead(200).write('{');
        });
        await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
        const service = 'http://127.0.0.1:' + server.address().port;
        const client = new EchodropClient({ ...${clientOptions()}, service, retries: 0, stallMs: 1000 });
        const outcome = client.upload(new Uint8Array(9)).then(() => 'published', ({ cause }) => cause.message);
        for (let n = 0; n < 10; n += 1) await sleep(50).then(gc);
        console.log(await Promise.race([outcome, sleep(60_000, 'stalled')]));
        process.exit();`;
      expect(await runProgram(program, ['--expose-gc'])).toBe('no progress for 1 s');
    });

    test('reads XML and sends a stream', async () => {
      const program = `
        import { createReadStream } from 'node:fs';
        import { EchodropClient } from '@echodrop/client';
        const client = new EchodropClient(${clientOptions()});
        const { user, type } = await client.upload(createReadStream('sea.jpg'), { format: 'xml' });
        console.log(type, user.id);`;
      expect(await runProgram(program)).toBe('jpg 42n');
    });
  });
}

await describeWithBrowser('in a browser', (browser) => {
  const inPage = async <T>(body: string): Promise<T> => {
    await using watched = await openTab(browser());
    const { tab, problems } = watched;
    await tab.goto(pages.origin);
    const photo = await readFile(join(built.app, 'sea.jpg'), 'base64');
    const result = await tab.evaluate(`(async () => {
      const { EchodropClient, RequestRefused } = await import('@echodrop/client');
      const client = new EchodropClient(${clientOptions()});
      const bytes = Uint8Array.from(atob('${photo}'), (c) => c.charCodeAt(0));
      ${body}
    })()`);
    expect(problems.filter((problem) => !problem.includes('Failed to load resource'))).toEqual([]);
    return result as T;
  };

  test('uploads with progress, lists and removes', async () => {
    const result = await inPage<Record<string, unknown>>(`
      const progress = [];
      const onProgress = (sent, total) => progress.push(sent / total);
      const record = await client.upload(new Blob([bytes]), { message: 'from a page', onProgress });
      const { records } = await client.list({ count: 1 });
      await client.remove(record.id);
      const left = await client.get(record.id);
      return { listed: records[0].id === record.id, left, last: progress.at(-1), id: String(record.user.id) };`);
    expect(result).toEqual({ listed: true, left: undefined, last: 1, id: '42' });
  });

  test('uploads a stream, and reads XML', async () => {
    const type = await inPage(`
      const record = await client.upload(new Blob([bytes]).stream(), { format: 'xml' });
      return record.type;`);
    expect(type).toBe('jpg');
  });

  test('throws the refusal, with and without progress', async () => {
    const reasons = await inPage(`
      const reasonOf = (options) => client.upload(new Uint8Array(3), options).catch((error) => error instanceof RequestRefused && error.reason);
      return [await reasonOf({}), await reasonOf({ onProgress() {} })];`);
    expect(reasons).toEqual(['media_unsupported', 'media_unsupported']);
  });

  test('ends an endless response, with and without progress', async () => {
    const messages = await inPage(`
      const hostile = new EchodropClient({ ...${clientOptions()}, service: location.origin, retries: 0 });
      const messageOf = (options) => hostile.upload(bytes, options).catch(({ message }) => message);
      return [await messageOf({}), await messageOf({ onProgress() {} })];`);
    expect(messages).toEqual(Array(2).fill(expect.stringMatching(/^The response is larger than 1 MiB\./)));
  });
});
