import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { recordToJson } from '@echodrop/record';
import { execa } from 'execa';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { endless, type FakeService, refuse, respond, someRecord, startFakeService } from '../service.fixture.ts';
import { run } from './run-cli.fixture.ts';

let service: FakeService;
let folder: string;

beforeAll(async () => {
  service = await startFakeService();
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'upload-files-'));
  service.received.length = 0;
  service.answers = [respond(200, recordToJson(someRecord))];
});
afterEach(() => rm(folder, { recursive: true }));
afterAll(() => service?.[Symbol.asyncDispose]());

const environment = () => ({
  XDG_STATE_HOME: join(folder, 'state'),
  ECHODROP_URL: service.address,
  ECHODROP_KEY: 'key',
  ECHODROP_PROVIDER: 'https://social.example/verify',
  ECHODROP_BEARER: 'token',
});
const upload = (...args: string[]) => run(['upload', ...args], { env: environment(), cwd: folder });

test('identical files of one run are sent once, and with --again each', async () => {
  const names = ['a.jpg', 'b.jpg', 'c.jpg'];
  for (const name of names) await writeFile(join(folder, name), 'photo');
  const stdout = `${someRecord.url}\n`.repeat(3);
  expect(await upload(...names)).toEqual({ status: 0, stdout, stderr: '' });
  expect(service.received).toHaveLength(1);
  expect(await upload(...names, '--again')).toEqual({ status: 0, stdout, stderr: '' });
  expect(service.received).toHaveLength(4);
});

test('a response is read to a limit', async () => {
  await writeFile(join(folder, 'a.jpg'), 'photo');
  service.answers = [endless, respond(200, recordToJson(someRecord))];
  expect(await upload('a.jpg')).toEqual({ status: 0, stdout: `${someRecord.url}\n`, stderr: '' });
});

test('with --json, an error has its status once', async () => {
  await writeFile(join(folder, 'a.jpg'), 'photo');
  service.answers = [refuse(415, 'media_unsupported')];
  expect(JSON.parse((await upload('a.jpg', '--json')).stdout).error).toEqual({
    status: 415,
    reason: 'media_unsupported',
    message: 'A sentence.',
  });
});

test('a missing file is named in plain words', async () => {
  expect((await upload('no.jpg')).stderr).toBe(`no.jpg: ${join(folder, 'no.jpg')}: no such file or directory\n`);
});

test('a named pipe is refused at once', async () => {
  await execa('mkfifo', [join(folder, 'pipe')]);
  expect((await upload('pipe')).stderr).toMatch(/is a pipe or device\. .* standard input \(-\)\.\n$/);
});
