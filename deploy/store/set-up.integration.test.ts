import { mkdir, mkdtempDisposable, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCountingProxy } from '@echodrop/testkit/servers/counting-proxy';
import { describeWithMinio } from '@echodrop/testkit/servers/describe-with-minio';
import type { RunningMinio } from '@echodrop/testkit/servers/start-minio';
import { unlessMissing } from '@echodrop/testkit/unless-missing';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type MadeSecrets, makeSecrets } from '../made-secrets.fixture.ts';
import { type S3Keys, statusOf } from './minio-root.fixture.ts';

const client = await findClient([process.env['MC_BIN'], 'mcli', 'minio-client', 'mc']);

describe('with mc', unlessMissing({ mc: client !== undefined }), () => {
  describeWithMinio('the set-up of the store', { stoppable: true }, (startMinio) => {
    const parts = new AsyncDisposableStack();
    let secrets: MadeSecrets;
    let minio: RunningMinio;
    let folder: string;

    beforeAll(async () => {
      secrets = parts.use(await makeSecrets());
      minio = parts.use(await startMinio());
      folder = parts.use(await mkdtempDisposable(join(tmpdir(), 'echodrop-set-up-'))).path;
      await mkdir(join(folder, 'bin'));
      await symlink(client ?? '', join(folder, 'bin/mc'));
      await replaceSecret('S3_ROOT_USER', minio.accessKey);
      await replaceSecret('S3_ROOT_PASSWORD', minio.secretKey);
    });
    afterAll(() => parts.disposeAsync());

    async function replaceSecret(name: string, value: string): Promise<void> {
      await rm(join(secrets.folder, name));
      await writeFile(join(secrets.folder, name), value);
    }

    async function setUp(...args: string[]): Promise<string> {
      return setUpAt(minio.endpoint, ...args);
    }

    async function setUpAt(endpoint: string, ...args: string[]): Promise<string> {
      const env = {
        PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
        TMPDIR: folder,
        SECRETS_DIR: secrets.folder,
        S3_ENDPOINT: endpoint,
        S3_BUCKET: minio.bucket,
      };
      return (await execa(join(import.meta.dirname, 'set-up'), args, { env })).stdout;
    }

    const keysOf = (service: string): S3Keys => ({
      accessKey: secrets.read(`${service}_S3_ACCESS_KEY`),
      secretKey: secrets.read(`${service}_S3_SECRET_KEY`),
    });
    const lists = (keys: S3Keys) => statusOf(minio, keys, 'GET', `/${minio.bucket}`, { query: 'list-type=2&prefix=' });

    test('creates the bucket and every user with its policy; a second run changes nothing', async () => {
      for (const _ of ['once', 'again']) {
        await setUp('if-changed');
        expect([await lists(keysOf('ADMIN')), await lists(keysOf('GATEWAY')), await lists(keysOf('SITE'))]).toEqual([
          200, 403, 403,
        ]);
        for (const service of ['GATEWAY', 'SITE', 'PROBE_WORKER', 'RENDITION_WORKER', 'SWEEPER'])
          expect(await statusOf(minio, keysOf(service), 'HEAD', `/${minio.bucket}`)).toBe(200);
      }
    });

    test('at a start nothing is written, unless a key or policy has changed', async () => {
      await setUp();
      expect(await setUp('if-changed')).toContain('set up already');
      await replaceSecret('SITE_S3_SECRET_KEY', 'another-secret-of-the-site');
      expect(await setUp('if-changed')).not.toContain('set up already');
      expect(await statusOf(minio, keysOf('SITE'), 'HEAD', `/${minio.bucket}`)).toBe(200);
    });

    test('at a start, a store that is not up yet is not taken for one without users', async () => {
      await setUp();
      let isUp = false;
      await using proxy = await startCountingProxy(minio.endpoint, ({ path }) =>
        isUp || !path.startsWith(`/${minio.bucket}`) ? 'passes' : { status: 403, body: '' },
      );
      await expect(setUpAt(proxy.endpoint, 'if-changed')).rejects.toThrow();
      expect(proxy.seen.filter(({ path }) => path.startsWith('/minio/admin'))).toEqual([]);
      isUp = true;
      expect(await setUpAt(proxy.endpoint, 'if-changed')).toContain('set up already');
    });

    test('keys rotate: new ones are valid with the old, until the old are pruned', async () => {
      await setUp();
      const old = keysOf('ADMIN');
      for (const name of ['ADMIN_S3_ACCESS_KEY', 'ADMIN_S3_SECRET_KEY']) await rm(join(secrets.folder, name));
      await secrets.makeAgain();
      const fresh = keysOf('ADMIN');
      await setUp();
      expect([await lists(old), await lists(fresh)]).toEqual([200, 200]);
      await setUp('prune');
      expect([await lists(old), await lists(fresh)]).toEqual([403, 200]);
    });
  });
});

// Midnight Commander is also called mc.
async function findClient(programs: readonly (string | undefined)[]): Promise<string | undefined> {
  for (const program of programs) {
    if (!program) continue;
    const { stdout } = await execa('sh', ['-c', '"$1" --version && command -v "$1"', 'sh', program], { reject: false });
    if (stdout?.includes('MinIO')) return stdout.split('\n').at(-1);
  }
  return undefined;
}
