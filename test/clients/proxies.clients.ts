import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { findProgram } from '@echodrop/testkit/find-program';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { nginx, startNginx } from '@echodrop/testkit/servers/start-nginx';
import { type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import { unlessMissing } from '@echodrop/testkit/unless-missing';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasPythonClients, withPython } from './clients.ts';
import { makeCertificate, type RunningProxy, startHaproxy } from './start-haproxy.ts';

const hasNginx = nginx !== undefined;
const hasHaproxy = (await findProgram('haproxy')) !== undefined;
const hasPython = await hasPythonClients();
const MB = 1e6;

let stack: Stack;
let tls: string;

beforeAll(async () => {
  stack = await startStack({ services: ['sandbox-provider', 'auth-verifier', 'gateway'] });
  tls = await makeCertificate(stack.folder);
});
afterAll(() => stack?.[Symbol.asyncDispose]());

async function photoOf(bytes: number): Promise<string> {
  const path = join(stack.folder, `${bytes}.jpg`);
  const photo = await samplePhoto('jpg', { width: 64, height: 48 });
  await writeFile(path, Buffer.concat([photo, randomBytes(bytes - photo.length)]));
  return path;
}

describe.each([
  {
    proxy: 'nginx',
    isFound: hasNginx,
    start: () => startNginx(stack.gateway, { directives: 'client_max_body_size 0;', tls }),
  },
  {
    proxy: 'haproxy',
    isFound: hasHaproxy,
    start: () => startHaproxy(join(stack.folder, 'haproxy'), stack.gateway, tls),
  },
] as const)('through $proxy with TLS', ({ proxy, isFound, start }) => {
  describe('clients', unlessMissing({ [proxy]: isFound }), () => {
    let running: RunningProxy;
    beforeAll(async () => {
      running = await start();
    });
    afterAll(() => running?.[Symbol.asyncDispose]());

    const curl = async (token: string, file: string, ...options: readonly string[]) => {
      const headers = [
        `X-Auth-Service-Provider: ${stack.bearerProvider}`,
        `X-Verify-Credentials-Authorization: Bearer ${token}`,
      ];
      const fields = [`key=${sandbox.apiKey}`, 'message=proxy', `media=@${file};filename=a.jpg`];
      const { stdout } = await execa(
        'curl',
        [
          ['--silent', '--show-error', '--insecure', '--write-out', '\n%{http_code} %{http_version}'],
          headers.flatMap((header) => ['--header', header]),
          fields.flatMap((field) => ['--form', field]),
          [...options, `${running.origin}/2/upload.json`],
        ].flat(),
        { timeout: 90_000, inputFile: file },
      );
      const [, text = '', status, version] = /^([\s\S]*)\n(\d+) (\S+)$/.exec(stdout) ?? [];
      return { status: Number(status), version, body: JSON.parse(text) };
    };

    test.each([
      ['HTTP/2', '2', ['--http2']],
      ['HTTP/1.1', '1.1', ['--http1.1']],
      ['chunked', '1.1', ['--http1.1', '--header', 'Transfer-Encoding: chunked']],
      ['HTTP/1.1 with Expect', '1.1', ['--http1.1', '--header', 'Expect: 100-continue']],
      ['HTTP/2 with Expect', '2', ['--http2', '--header', 'Expect: 100-continue']],
    ])('curl, %s', async (_, version, options) => {
      const file = await photoOf(2 * MB);
      expect(await curl('sandbox-bearer', file, ...options)).toMatchObject({
        status: 200,
        version,
        body: { text: 'proxy', size: 2 * MB },
      });
      const refusal = { errors: [{ code: 401, reason: 'credentials_refused' }] };
      const large = await photoOf(20 * MB);
      expect(await curl('unknown', large, ...options)).toMatchObject({ status: 401, version, body: refusal });
    });

    test('httpx, HTTP/2', unlessMissing({ "Python's HTTP clients": hasPython }), async () => {
      const name = 'httpx, HTTP/2 over TLS';
      const upload = {
        address: `${running.origin}/2/upload.json`,
        provider: stack.bearerProvider,
        key: sandbox.apiKey,
        authorization: 'Bearer sandbox-bearer',
        message: 'proxy',
        file: await photoOf(2 * MB),
      };
      expect(await withPython(upload, [name])).toMatchObject({ [name]: { status: 200 } });
    });
  });
});

describe('through nginx with its default limit of 1 MB', unlessMissing({ nginx: hasNginx }), () => {
  test.each([3, 40])('the command line uploads %i MB in pieces', async (megabytes) => {
    await using proxy = await startNginx(stack.gateway);
    const file = await photoOf(megabytes * MB);
    const main = resolve(import.meta.dirname, '../../packages/client/src/cli/main.ts');
    const { stdout } = await execa(process.execPath, [main, 'upload', file, '--json', '--message', 'pieces'], {
      env: {
        ECHODROP_URL: proxy.origin,
        ECHODROP_KEY: sandbox.apiKey,
        ECHODROP_PROVIDER: stack.bearerProvider,
        ECHODROP_BEARER: 'sandbox-bearer',
        HOME: stack.folder,
        XDG_CONFIG_HOME: stack.folder,
        XDG_STATE_HOME: stack.folder,
      },
    });
    expect(JSON.parse(stdout)).toMatchObject({ record: { size: megabytes * MB } });
  });
});
