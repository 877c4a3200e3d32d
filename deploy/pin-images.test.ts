import { chmod, cp, glob, mkdir, mkdtempDisposable, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from './compose-file.fixture.ts';

const named = /^[ -]*(?:FROM|image:)(?: &[a-z]+)? +([a-z\d./-]+:[\w.-]+)(@sha256:[\da-f]{64})?(?: AS [a-z]+)?$/gm;
const files = await Array.fromAsync(
  glob(['docker-compose.yml', 'deploy/**/{Dockerfile,*.yaml,*.yml}', 'docs/**/*.md'], {
    cwd: root,
    exclude: ['**/node_modules/**'],
  }),
);

const parts = new AsyncDisposableStack();
let copy: string;

// A `docker` that knows the digests of all images but one.
beforeAll(async () => {
  copy = parts.use(await mkdtempDisposable(join(tmpdir(), 'pin-images-'))).path;
  for (const file of [...files, 'deploy/pin-images']) {
    await mkdir(dirname(join(copy, file)), { recursive: true });
    await cp(join(root, file), join(copy, file));
  }
  await mkdir(join(copy, 'bin'));
  const docker = join(copy, 'bin/docker');
  const script = [
    '#!/bin/sh',
    'for image; do :; done',
    '[ "$image" != "$UNKNOWN" ] || exit 1',
    'echo "Digest:    sha256:$(echo "$image $SALT" | sha256sum | cut -c-64)"',
  ];
  await writeFile(docker, script.join('\n'));
  await chmod(docker, 0o755);
});
afterAll(() => parts.disposeAsync());

function pin(options: readonly string[], env: Record<string, string> = {}) {
  const path = `${join(copy, 'bin')}:${process.env['PATH']}`;
  return execa(join(copy, 'deploy/pin-images'), options, { env: { PATH: path, ...env }, reject: false });
}

/** The images in all files below a folder: name and tag, with the digests after them. */
async function imagesIn(folder: string): Promise<Map<string, Set<string>>> {
  const images = new Map<string, Set<string>>();
  for (const file of files) {
    for (const [, image = '', digest = ''] of (await readFile(join(folder, file), 'utf8')).matchAll(named)) {
      images.set(image, (images.get(image) ?? new Set()).add(digest));
    }
  }
  return images;
}

test('third-party images have the same names in all files, and all or none have digests', async () => {
  const images = [...(await imagesIn(root))];
  expect(images.map(([image]) => image)).toEqual(
    expect.arrayContaining([
      'node:24-bookworm-slim',
      expect.stringContaining('/silo:'),
      expect.stringContaining('prom/alertmanager:'),
    ]),
  );
  for (const [image, digests] of images) expect([image, digests.size]).toEqual([image, 1]);
  expect(new Set(images.map(([, [digest = '']]) => digest !== '')).size).toBe(1);
});

test('pins all images, updates the pins, and returns to tags', async () => {
  const tags = [...(await imagesIn(copy)).keys()];
  const digests: string[] = [];
  for (const SALT of ['first', 'second']) {
    expect(await pin([], { SALT })).toMatchObject({ exitCode: 0 });
    const pinned = await imagesIn(copy);
    expect([...pinned.keys()]).toEqual(tags);
    for (const each of pinned.values()) digests.push(...each);
  }
  // Each image has one digest everywhere, and a new one after each update.
  expect(digests).toHaveLength(2 * tags.length);
  expect(new Set(digests).size).toBe(digests.length);
  expect(digests.every((digest) => digest.startsWith('@sha256:'))).toBe(true);
  expect(await pin(['--tags'])).toMatchObject({ exitCode: 0 });
  for (const [, [digest]] of await imagesIn(copy)) expect(digest).toBe('');
});

test('a check fails while an image has no digest, and names it', async () => {
  const unpinned = await pin(['--check']);
  expect(unpinned).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('redis:8-bookworm') });
  expect(await pin([])).toMatchObject({ exitCode: 0 });
  expect(await pin(['--check'])).toMatchObject({ exitCode: 0, stderr: '' });
  expect(await pin(['--tags'])).toMatchObject({ exitCode: 0 });
});

test.each([
  ['deploy/other.yml', '    image: "redis:8-bookworm"'],
  ['deploy/other.yaml', '- image: registry.example:5000/redis:8'],
  ['deploy/other.yaml', '  image: redis'],
  ['deploy/other.yaml', '  image: redis:8-bookworm # the newest'],
  ['deploy/other.yaml', '\timage : redis:8-bookworm'],
  ['deploy/Dockerfile.other', 'FROM --platform=linux/amd64 debian:bookworm-slim'],
  // Another Dockerfile has a stage of this name.
  ['deploy/Dockerfile.other', 'FROM node'],
  ['deploy/Dockerfile.other', 'from debian:bookworm-slim as plain'],
  ['docs/other.md', '    image: redis:latest'],
])('a check fails for %s with %j', async (file, line) => {
  expect(await pin([])).toMatchObject({ exitCode: 0 });
  await writeFile(join(copy, file), `${line}\n`);
  expect(await pin(['--check'])).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/^Images without.*\n.+$/),
  });
  await rm(join(copy, file));
  expect(await pin(['--check'])).toMatchObject({ exitCode: 0, stderr: '' });
  expect(await pin(['--tags'])).toMatchObject({ exitCode: 0 });
});

test('changes nothing if a digest is not available', async () => {
  const before = await Promise.all(files.map((file) => readFile(join(copy, file), 'utf8')));
  expect(await pin([], { UNKNOWN: 'redis:8-bookworm' })).toMatchObject({ exitCode: 1 });
  expect(await Promise.all(files.map((file) => readFile(join(copy, file), 'utf8')))).toEqual(before);
});
