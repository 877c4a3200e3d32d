import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeWithMinioProgram } from '@echodrop/testkit/servers/describe-with-minio';
import { startMinioOfFiles } from '@echodrop/testkit/servers/start-minio';
import { expect, test } from 'vitest';
import { makeSecrets } from '../made-secrets.fixture.ts';
import { addUser, type S3Keys, statusOf } from './minio-root.fixture.ts';

describeWithMinioProgram("the store's root keys", (program) => {
  test.each([
    ['password', async () => {}],
    ['name and password', (folder: string) => replace(join(folder, 'S3_ROOT_USER'), 'another')],
  ])('after a restart, a new %s replaces the old one, and service keys stay valid', async (_, rename) => {
    await using secrets = await makeSecrets();
    const user = join(secrets.folder, 'S3_ROOT_USER');
    const password = join(secrets.folder, 'S3_ROOT_PASSWORD');
    await using minio = await startMinioOfFiles(program, { user, password });
    const keysOf = (name: string, [key, secret]: readonly [string, string]): S3Keys => ({
      accessKey: secrets.read(`${name}_${key}`),
      secretKey: secrets.read(`${name}_${secret}`),
    });
    const root = () => keysOf('S3_ROOT', ['USER', 'PASSWORD']);
    const site = keysOf('SITE_S3', ['ACCESS_KEY', 'SECRET_KEY']);
    const reads = (keys: S3Keys) => statusOf(minio, keys, 'GET', '/echodrop/records/a.json');
    const administers = (keys: S3Keys) => statusOf(minio, keys, 'GET', '/minio/admin/v3/list-users');
    const policy = readFileSync(join(import.meta.dirname, 'policies/site.json'), 'utf8').replaceAll(
      'BUCKET',
      'echodrop',
    );
    const old = root();
    for (const path of ['/echodrop', '/echodrop/records/a.json'])
      expect(await statusOf(minio, old, 'PUT', path, path === '/echodrop' ? {} : { body: '{}' })).toBe(200);
    await addUser({ ...minio, ...old }, site, 'echodrop-site', policy);

    await rename(secrets.folder);
    await rm(password);
    await secrets.makeAgain();
    expect(root()).not.toEqual(old);
    await minio.server.restart();
    // MinIO serves before it has loaded its users.
    await expect.poll(() => administers(root())).toBe(200);
    expect(await administers(old)).toBe(403);
    expect([await reads(site), await administers(site)]).toEqual([200, 403]);
    await addUser({ ...minio, ...root() }, { ...site, secretKey: 'another secret of site' }, 'echodrop-site', policy);
    expect(await reads(site)).toBe(403);
  });
});

async function replace(path: string, text: string): Promise<void> {
  await rm(path);
  await writeFile(path, text);
}
