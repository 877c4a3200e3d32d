import { cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import { unlessMissing } from '@echodrop/testkit/unless-missing';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canRun, pathOf } from './run-program.ts';

const buildMs = 10 * 60_000;
const cache = pathOf('../../node_modules/.cache');

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({
    services: ['sandbox-provider', 'auth-verifier', 'gateway'],
    // tus_client does not follow a relative Location.
    settings: ({ gateway }) => ({ PUBLIC_UPLOAD_URL: gateway }),
  });
});
afterAll(() => stack?.[Symbol.asyncDispose]());

describe('Go', unlessMissing({ Go: await canRun('go', 'version') }), () => {
  test('go-tus uploads', { timeout: buildMs }, () => uploadWith('go-tus', buildGo));
});

describe('Rust', unlessMissing({ Cargo: await canRun('cargo', '--version') }), () => {
  test('tus_client uploads', { timeout: buildMs }, () => uploadWith('tus_client', buildRust));
});

/** Expects a client to report success, and one record with all bytes. */
async function uploadWith(name: string, build: () => Promise<string>): Promise<void> {
  const program = await build();
  const photo = await samplePhoto('jpg', { width: 64, height: 48 });
  const file = join(stack.folder, 'photo.jpg');
  await writeFile(file, photo);
  const records = (await stack.stored('records')).length;
  const { gateway, bearerProvider } = stack;
  const args = [`${gateway}/files/`, bearerProvider, 'Bearer sandbox-bearer', sandbox.apiKey, name, file];
  const { stdout } = await execa(program, args, { timeout: 90_000 });
  const headers = {
    'X-Auth-Service-Provider': bearerProvider,
    'X-Verify-Credentials-Authorization': 'Bearer sandbox-bearer',
  };
  expect(await (await fetch(stdout, { headers })).json()).toMatchObject({ text: name, size: photo.length });
  expect(await stack.stored('records')).toHaveLength(records + 1);
}

/** Builds with the module of the Go proxy, or with the clone in GO_TUS, because not every proxy has it. */
async function buildGo(): Promise<string> {
  const folder = join(stack.folder, 'go');
  await cp(pathOf('go'), folder, { recursive: true });
  const options = { cwd: folder, timeout: buildMs };
  const clone = process.env['GO_TUS'];
  if (clone !== undefined) await execa('go', ['mod', 'edit', `-replace=github.com/eventials/go-tus=${clone}`], options);
  await execa('go', ['build', '-mod=mod', '-o', 'upload', '.'], options);
  return join(folder, 'upload');
}

async function buildRust(): Promise<string> {
  const target = join(cache, 'rust-clients');
  await execa('cargo', ['build', '--target-dir', target], { cwd: pathOf('rust'), timeout: buildMs });
  return join(target, 'debug/clients');
}
