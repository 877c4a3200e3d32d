import { createHash } from 'node:crypto';
import { cp, glob, mkdir, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { root } from './compose-file.fixture.ts';

const text = (path: string) => readFile(join(root, path), 'utf8');
const lock = JSON.parse(await text('deploy/pnpm/package-lock.json'));
const sha512 = (bytes: Buffer) => `sha512-${createHash('sha512').update(bytes).digest('base64')}`;

/** A copy of what `deploy/install` needs, and a registry on loopback whose pnpm is another program: it writes the file `ran`. */
async function prepareInstall() {
  await using parts = new AsyncDisposableStack();
  const { path } = parts.use(await mkdtempDisposable(join(tmpdir(), 'pins-')));
  await mkdir(join(path, 'package'));
  await writeFile(join(path, 'package/package.json'), '{"name":"pnpm","version":"12.21.0"}');
  await writeFile(join(path, 'package/pnpm'), `#!/bin/sh\ntouch '${path}/ran'\n`, { mode: 0o755 });
  await execa('tar', ['-czf', 'pnpm.tgz', 'package'], { cwd: path });
  const tarball = await readFile(join(path, 'pnpm.tgz'));
  for (const file of ['deploy/install', 'deploy/pnpm/package.json', 'deploy/pnpm/package-lock.json', 'pnpm-lock.yaml'])
    await cp(join(root, file), join(path, file));
  const server = createServer((request, response) => {
    if (request.url?.endsWith('.tgz')) return response.end(tarball);
    const name = decodeURIComponent(request.url?.slice(1) ?? '');
    const dist = { tarball: `${registry}/${name}.tgz`, integrity: sha512(tarball) };
    const version = lock.packages[`node_modules/${name}`]?.version;
    response.end(JSON.stringify({ name, versions: { [version]: { name, version, dist } } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  parts.defer(() => void server.close());
  const registry = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  const held = parts.move();
  return {
    path,
    tarball,
    install() {
      const env = {
        npm_config_registry: registry,
        npm_config_cache: join(path, 'cache'),
        npm_config_fetch_retries: '0',
      };
      return execa(join(path, 'deploy/install'), { env, reject: false });
    },
    hasRun: () => readFile(join(path, 'ran')).then(Boolean, () => false),
    [Symbol.asyncDispose]: () => held.disposeAsync(),
  };
}

test('installation ends before another pnpm than the pinned one runs', async () => {
  await using copy = await prepareInstall();
  expect(await copy.install()).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('its checksum differs') });
  expect(await copy.hasRun()).toBe(false);
});

test('installation runs a pnpm with the pinned checksum', async () => {
  await using copy = await prepareInstall();
  const path = join(copy.path, 'deploy/pnpm/package-lock.json');
  const trusting = (await readFile(path, 'utf8')).replaceAll(/sha512-[^"]+/g, sha512(copy.tarball));
  await writeFile(path, trusting);
  expect(await copy.install()).toMatchObject({ exitCode: 0 });
  expect(await copy.hasRun()).toBe(true);
});

test('every package of both lock files has a checksum', async () => {
  const { '': own, ...pinned } = lock.packages;
  expect(Object.keys(pinned)).toEqual(Object.keys(own.optionalDependencies).map((name) => `node_modules/${name}`));
  for (const { integrity } of Object.values<{ integrity?: string }>(pinned)) expect(integrity).toMatch(/^sha512-/);
  const resolutions = (await text('pnpm-lock.yaml')).match(/^ {4}resolution: .*$/gm) ?? [];
  expect(resolutions.length).toBeGreaterThan(100);
  expect(resolutions.filter((line) => !/^ {4}resolution: \{integrity: sha512-[\w+/=]+\}$/.test(line))).toEqual([]);
});

test('Python packages of the checks have versions and hashes', async () => {
  const run = await text('.ci/run');
  const installs = run.match(/\bpip" install .*/g) ?? [];
  expect(installs).toEqual(['pip" install -q --require-hashes --no-deps -r test/$tests/requirements.txt || exit 1']);
  const files = await Array.fromAsync(glob('test/*/requirements.txt', { cwd: root }));
  const requirements = (await Promise.all(files.map(text))).join('\n');
  const packages = requirements.replaceAll(/^#.*\n/gm, '').split(/\n+(?=\S)/);
  expect(packages.length).toBeGreaterThan(30);
  for (const each of packages)
    expect(each.trim()).toMatch(/^[a-z\d-]+==[\d.a-z]+(?: \\\n {4}--hash=sha256:[\da-f]{64})+$/);
});

test('workflows name actions by commit', async () => {
  const files = await Array.fromAsync(glob('.github/workflows/*.yml', { cwd: root }));
  const uses = (await Promise.all(files.map(text))).flatMap((each) => each.match(/uses: .*/g) ?? []);
  expect(uses.filter((line) => !/^uses: (\.\/\S+|[\w-]+\/[\w-]+@[0-9a-f]{40} # v[\d.]+)$/.test(line))).toEqual([]);
  expect(uses.length).toBeGreaterThan(5);
});

test('images and hosts install pnpm from the same lock file', async () => {
  const [dockerfile, install] = await Promise.all(['deploy/Dockerfile', 'deploy/install'].map(text));
  for (const each of [dockerfile, install]) {
    expect(each).toMatch(/npm ci --prefix \S*\/?pnpm --ignore-scripts/);
    expect(each).not.toMatch(/\bnpm install|npx|pnpm@/);
  }
});
