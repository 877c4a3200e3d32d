import { chmod, mkdtempDisposable, readdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileHijackedTool } from '@echodrop/media/sandbox/hijacked-tool.fixture';
import { describeWithBrowser } from '@echodrop/testkit/describe-with-browser';
import { RawClient } from '@echodrop/testkit/raw-client';
import { samplePhoto, sampleVideo } from '@echodrop/testkit/samples/sample-media';
import { upload, uploadRequest } from '@echodrop/testkit/upload';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ComposeSystem, root, startCompose } from './compose-system.ts';
import { killInTurn } from './faults.ts';

let system: ComposeSystem;
beforeAll(async () => {
  system = await startCompose();
}, 300_000);
afterAll(async () => {
  await system?.[Symbol.asyncDispose]();
});

const everywhere = [
  'proxy',
  'gateway',
  'site',
  'auth-verifier',
  'probe-worker',
  'rendition-worker',
  'sweeper',
  'sandbox-provider',
  'queue-redis',
  'cache-redis',
  'minio',
  'store-set-up',
];

describe.each([1, 2] as const)('version %i', (version) => {
  test.each(['xml', 'json'] as const)(
    'a photo and a video come through the proxy, and are shown (%s)',
    async (format) => {
      const photo = await samplePhoto('jpg', { width: 64, height: 48 });
      const video = await sampleVideo('mp4', { width: 64, height: 48 });
      for (const [type, media] of [
        ['jpg', photo],
        ['mp4', video],
      ] as const) {
        const { status, headers, text } = await upload(system, {
          version,
          format,
          media,
          message: `a ${type} by ${version}`,
        });
        expect({ status, text }).toMatchObject({ status: 200 });
        expect(headers.get('content-type')).toBe(`application/${format}; charset=utf-8`);
        const [, id] = /(?:"id":"|<image><id>)(\w+)/.exec(text) ?? [];
        const page = await fetch(`${system.site}/${id}`);
        expect({ status: page.status, text: await page.text() }).toMatchObject({
          status: 200,
          text: expect.stringContaining(`a ${type} by ${version}`),
        });
        await expect.poll(() => typeOf(`${system.site}/${id}/large.jpg`), { timeout: 30_000 }).toBe('image/jpeg');
      }
    },
  );
});

await describeWithBrowser('a browser', (browser) => {
  test('opens the page, and the picture on it is drawn', async () => {
    const { text } = await upload(system, {
      media: await samplePhoto('png', { width: 320, height: 200 }),
      message: 'for a browser',
    });
    const page = await browser().newPage();
    await page.goto(JSON.parse(text).url);
    expect(await page.textContent('main')).toContain('for a browser');
    const drawn = '[...document.images].some((image) => image.complete && image.naturalWidth > 100)';
    expect(await page.waitForFunction(drawn)).toBeTruthy();
  });
});

describe('the proxy', () => {
  test('keeps nothing of an upload that is larger than any of its buffers', async () => {
    const photo = await samplePhoto('jpg', { width: 64, height: 48 });
    const { status } = await upload(system, { media: Buffer.concat([photo, Buffer.alloc(48 * 1024 * 1024)]) });
    expect(status).toBe(200);
    expect(Number(await inContainer('proxy', 'du', '-sk', '/tmp').then((said) => said.split('\t')[0]))).toBeLessThan(
      1000,
    );
  });

  test('hands on a refusal while the client still sends', async () => {
    await using client = await RawClient.connect(system.gateway);
    client.head('/2/upload.xml', { 'Content-Type': 'multipart/form-data; boundary=b' }, 100_000_000);
    client.write(Buffer.alloc(4 * 1024 * 1024));
    expect(await client.answer()).toMatchObject({ status: 401, body: expect.stringContaining('credentials_missing') });
  });

  test('says 100 to who waits for it', async () => {
    await using client = await RawClient.connect(system.gateway);
    const { path, headers, body } = uploadRequest(system, {
      media: await samplePhoto('jpg', { width: 64, height: 48 }),
    });
    client.head(path, { ...headers, Expect: '100-continue' }, body.length);
    await expect.poll(() => client.received, { timeout: 5000 }).toMatch(/^HTTP\/1\.1 100 /);
    client.write(body);
    expect(await client.answer()).toMatchObject({ status: 200 });
  });

  test('passes HEAD and Range on', async () => {
    const { text } = await upload(system, { media: await samplePhoto('jpg', { width: 64, height: 48 }) });
    const picture = `${JSON.parse(text).url}/large.jpg`;
    await expect.poll(() => typeOf(picture), { timeout: 30_000 }).toBe('image/jpeg');
    const whole = Buffer.from(await (await fetch(picture)).arrayBuffer());
    const head = await fetch(picture, { method: 'HEAD' });
    expect([head.status, Number(head.headers.get('content-length'))]).toEqual([200, whole.length]);
    const part = await fetch(picture, { headers: { Range: 'bytes=10-19' } });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 10-19/${whole.length}`]);
    expect(Buffer.from(await part.arrayBuffer())).toEqual(whole.subarray(10, 20));
  });

  test('believes nobody about who asks, unless told whom', async () => {
    await fetch(`${system.gateway}/openapi.json`, { headers: { 'X-Forwarded-For': '192.0.2.1' } });
    expect(await system.compose('logs', '--no-log-prefix', 'proxy')).not.toContain('192.0.2.1');
  });
});

describe('what runs', () => {
  test('is hardened, and only the proxy is published', async () => {
    for (const service of everywhere) {
      const [{ Config, HostConfig }] = await inspected(service);
      expect({ service, ...HostConfig }).toMatchObject({
        service,
        ReadonlyRootfs: true,
        CapDrop: ['ALL'],
        SecurityOpt: expect.arrayContaining(['no-new-privileges:true']),
        RestartPolicy: { Name: 'unless-stopped' },
        LogConfig: { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '5' } },
        Memory: expect.any(Number),
      });
      expect(HostConfig.Memory).toBeGreaterThan(0);
      expect(Object.keys(HostConfig.PortBindings)).toEqual(service === 'proxy' ? ['8080/tcp', '8081/tcp'] : []);
      const secrets = await secretsOf(system);
      expect(secrets.filter((secret) => JSON.stringify([Config.Env, Config.Cmd]).includes(secret))).toEqual([]);
    }
  });

  test('keeps its queue, and lets its cache go', async () => {
    const asked = async (service: string, name: string) =>
      (await asOperator(service, 'config', 'get', name)).split('\n')[1];
    expect([await asked('queue-redis', 'maxmemory-policy'), await asked('queue-redis', 'appendonly')]).toEqual([
      'noeviction',
      'yes',
    ]);
    expect([await asked('cache-redis', 'maxmemory-policy'), await asked('cache-redis', 'appendonly')]).toEqual([
      'allkeys-lru',
      'no',
    ]);
    expect(await inContainer('queue-redis', 'redis-cli', 'ping')).toContain('NOAUTH');
  });

  test.each(['probe-worker', 'rendition-worker'])('a hijacked media tool of %s gets nothing', async (service) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'hijacked-'));
    const program = join(folder.path, 'hijacked');
    await compileHijackedTool(program, { folder: '/tmp', port: 6379 });
    await chmod(folder.path, 0o755);
    const run = [
      'run',
      '--rm',
      '-T',
      '--no-deps',
      '--volume',
      `${program}:/hijacked:ro`,
      '--entrypoint',
      'sh',
      service,
    ];
    // Within a shell: what the engine starts loses its parent, and with it the tool would end.
    const shell = (mode: string) => ['-c', `packages/media/src/sandbox/sandbox ${mode} $$ "$@" | head -c 4096`, 'sh'];
    const limits = '5 5 1073741824 1073741824 0 0'.split(' ');
    const triedIn = (mode: string) => system.compose(...run, ...shell(mode), ...limits, '--', '/hijacked');
    expect(await system.compose('logs', '--no-log-prefix', service)).toContain(
      'Media tools run under Landlock and seccomp',
    );
    expect(await triedIn('full')).toBe('begun');
    expect(await triedIn('limits-only')).toContain('1 read a secret of its container');
  });

  test('exchanges its keys for the store and its passwords for Redis without failing an upload', async () => {
    const media = await samplePhoto('png', { width: 64, height: 48 });
    const statuses: number[] = [];
    const uploads = setInterval(async () => statuses.push((await upload(system, { media })).status), 500);
    const secrets = join(system.folder, 'secrets');
    const run = (command: string, ...args: string[]) =>
      execa(join(root, command), args, { cwd: root, env: { ...system.env, SECRETS_DIR: secrets } });
    const loadUsers = () => asOperator('queue-redis', 'acl', 'load');

    for (const name of ['GATEWAY_S3_ACCESS_KEY', 'GATEWAY_S3_SECRET_KEY']) await rm(join(secrets, name));
    await rename(join(secrets, 'GATEWAY_QUEUE_REDIS_URL'), join(secrets, 'GATEWAY_QUEUE_REDIS_URL.old'));
    await run('deploy/make-secrets');
    await loadUsers();
    await system.compose('restart', 'store-set-up');
    await system.compose('up', '--detach', '--no-build', '--wait');
    await run('deploy/rolling-update', 'gateway');
    await inContainer('store-set-up', '/store/set-up', 'prune');
    await rm(join(secrets, 'GATEWAY_QUEUE_REDIS_URL.old'));
    await run('deploy/make-secrets');
    await loadUsers();

    clearInterval(uploads);
    statuses.push((await upload(system, { media })).status);
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  test('has no key of the root, nor of another service', async () => {
    for (const service of everywhere.filter((name) => name !== 'store-set-up')) {
      const files = await inContainer(service, 'sh', '-c', 'ls /run/secrets 2>/dev/null || true');
      expect({ service, files }).toEqual({
        service,
        files:
          service === 'minio' ? expect.stringContaining('S3_ROOT_PASSWORD') : expect.not.stringMatching(/ROOT|_S3_/),
      });
    }
  });

  test('answers commands', async () => {
    const { text } = await upload(system, { media: await samplePhoto('jpg', { width: 64, height: 48 }) });
    expect(await system.compose('run', '--rm', '-T', 'admin', 'list')).toContain(JSON.parse(text).id);
  });
});

describe('without a gateway', () => {
  test('an upload that ran in one that dies is refused, and is not begun anew', async () => {
    await using client = await RawClient.connect(system.gateway);
    const { path, headers, body } = uploadRequest(system, {
      media: await samplePhoto('jpg', { width: 64, height: 48 }),
    });
    client.head(path, headers, body.length);
    client.write(body.subarray(0, body.length / 2));
    await expect.poll(() => metric('gateway', 'echodrop_uploads_in_flight'), { timeout: 30_000 }).toBe(1);
    await killInTurn(system, 'gateway');
    expect(await client.answer()).toMatchObject({ status: 502, body: expect.stringContaining('unavailable') });
    expect(await metric('gateway', 'echodrop_uploads_in_flight')).toBe(0);
  });

  test('the proxy refuses in the format that was asked for', async () => {
    await system.compose('stop', 'gateway');
    const xml = await upload(system, { format: 'xml', media: Buffer.from('any') });
    expect(xml).toMatchObject({
      status: 502,
      text: expect.stringMatching(/^<\?xml .*<errors><error><code>502<\/code><reason>unavailable</),
    });
    expect(xml.headers.get('content-type')).toBe('application/xml; charset=utf-8');
    expect(xml.headers.get('retry-after')).toBe('5');
    const json = await upload(system, { format: 'json', media: Buffer.from('any') });
    expect(JSON.parse(json.text)).toMatchObject({ errors: [{ code: 502, reason: 'unavailable' }] });
  });
});

async function typeOf(address: string): Promise<string | null> {
  const answer = await fetch(address);
  await answer.body?.cancel();
  return answer.headers.get('content-type');
}

async function metric(service: string, name: string): Promise<number> {
  const ask = 'fetch("http://127.0.0.1:" + process.env.OPS_PORT + "/metrics").then((r) => r.text()).then(console.log)';
  const told = await inContainer(service, 'node', '-e', ask);
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (.*)$`, 'm').exec(told)?.[1]);
}

async function inContainer(service: string, ...command: string[]): Promise<string> {
  return system.compose('exec', '-T', service, ...command);
}

async function asOperator(service: string, ...words: string[]): Promise<string> {
  const password = await readFile(join(system.folder, 'secrets/REDIS_OPERATOR_PASSWORD'), 'utf8');
  const asked = ['redis-cli', '--user', 'operator', ...words];
  return system.compose('exec', '-T', '-e', `REDISCLI_AUTH=${password.trim()}`, service, ...asked);
}

async function inspected(service: string) {
  const { stdout } = await execa('docker', ['inspect', ...(await system.containersOf(service))]);
  return JSON.parse(stdout);
}

async function secretsOf({ folder }: ComposeSystem): Promise<string[]> {
  const names = (await readdir(join(folder, 'secrets'))).filter((name) => !/^S3_ROOT_USER$|_ACCESS_KEY$/.test(name));
  return Promise.all(names.map(async (name) => (await readFile(join(folder, 'secrets', name), 'utf8')).trim()));
}
