import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { recordToJson } from '@echodrop/record';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { lose, refuse, respond, someRecord, useFakeService } from '../service.fixture.ts';
import { run } from './run-cli.fixture.ts';

const service = await useFakeService();
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'upload-files-'));
  service.responses = [respond(200, recordToJson(someRecord))];
});
afterEach(() => rm(folder, { recursive: true }));

const environment = () => ({
  XDG_STATE_HOME: join(folder, 'state'),
  ECHODROP_URL: service.address,
  ECHODROP_KEY: 'key',
  ECHODROP_PROVIDER: 'https://social.example/verify',
  ECHODROP_BEARER: 'token',
});
const upload = (...args: string[]) => run(['upload', ...args], { env: environment(), cwd: folder });

const repeated = (name: string) => `${name}: already uploaded. --again uploads it again.\n`;

test('identical files in one run are sent once; with --again, each is sent', async () => {
  const names = ['a.jpg', 'b.jpg', 'c.jpg'];
  for (const name of names) await writeFile(join(folder, name), 'photo');
  const stdout = `${someRecord.url}\n`.repeat(3);
  const { stderr, ...rest } = await upload(...names);
  expect(rest).toEqual({ status: 0, stdout });
  // The first one that has been hashed is sent.
  expect(stderr.match(/already uploaded/g)).toHaveLength(2);
  expect(service.received).toHaveLength(1);
  expect(await upload(...names, '--again')).toEqual({ status: 0, stdout, stderr: '' });
  expect(service.received).toHaveLength(4);
});

test('files are published, with one warning, if the ledger cannot be written', async () => {
  for (const name of ['a.jpg', 'b.jpg']) await writeFile(join(folder, name), name);
  await writeFile(join(folder, 'state'), 'no folder');
  const { status, stdout, stderr } = await upload('a.jpg', 'b.jpg');
  expect({ status, stdout }).toEqual({ status: 0, stdout: `${someRecord.url}\n`.repeat(2) });
  expect(stderr).toMatch(/^Cannot remember uploads on this machine: .*state.*\n$/);
});

test('a pause before another attempt is announced', async () => {
  await writeFile(join(folder, 'a.jpg'), 'photo');
  service.responses = [refuse(503, 'overloaded', { 'Retry-After': '1' }), respond(200, recordToJson(someRecord))];
  const { status, stderr } = await upload('a.jpg');
  expect(status).toBe(0);
  expect(stderr).toMatch(/^a\.jpg: .* \(503 overloaded\) Trying again in 1 s\.$/m);
});

describe('a file that was uploaded before', () => {
  const url = () => `${service.address}/a1B2c3D4e5`;
  const published = (id: string) => respond(200, recordToJson({ ...someRecord, id, url: `${service.address}/${id}` }));
  const requests = () => service.received.map(({ method, path }) => `${method} ${path}`);

  beforeEach(async () => {
    await writeFile(join(folder, 'a.jpg'), 'photo');
    service.responses = [published(someRecord.id)];
    await upload('a.jpg');
    service.received.length = 0;
  });

  test.each([
    ['is still published', respond(200)],
    ['is on a site that fails', respond(503)],
    ['is on a site that does not respond', lose],
  ])('and %s is not sent again', async (_, response) => {
    service.responses = [response];
    expect(await upload('a.jpg')).toEqual({ status: 0, stdout: `${url()}\n`, stderr: repeated('a.jpg') });
    expect(requests()).toEqual(['HEAD /a1B2c3D4e5']);
  });

  test('and removed elsewhere is published again only with --again', async () => {
    service.responses = [respond(410)];
    const { status, stdout, stderr } = await upload('a.jpg');
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toBe(
      'a.jpg: This file was uploaded before and then deleted. To publish it again, add --again. (410 removed)\n',
    );
    expect(requests()).toEqual(['HEAD /a1B2c3D4e5']);
    service.responses = [published('b1B2c3D4e5')];
    expect((await upload('a.jpg', '--again')).stdout).toBe(`${service.address}/b1B2c3D4e5\n`);
  });

  test('is reported as not uploaded with --json', async () => {
    service.responses = [respond(200)];
    expect(JSON.parse((await upload('a.jpg', '--json')).stdout).uploaded).toBe(false);
  });

  test('has no progress bar', async () => {
    service.responses = [respond(200)];
    const { stderr } = await run(['upload', 'a.jpg'], { env: environment(), cwd: folder, isTTY: true });
    expect(stderr).not.toContain(' bytes');
  });

  test('and changed after hashing is not published with the key of other bytes', async () => {
    const change = () => writeFile(join(folder, 'a.jpg'), 'other');
    service.responses = [(response) => void change().then(() => respond(404)(response)), published('b1B2c3D4e5')];
    const { status, stderr } = await upload('a.jpg');
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: 'a.jpg: The file changed while it was read. Upload it again.\n',
    });
    expect(requests()).toEqual(['HEAD /a1B2c3D4e5']);
  });

  test('and is unknown to the site is sent again', async () => {
    service.responses = [respond(404), published('b1B2c3D4e5')];
    expect((await upload('a.jpg')).stdout).toBe(`${service.address}/b1B2c3D4e5\n`);
  });
});

describe('on a terminal', () => {
  const uploadOnTerminal = async (names: readonly string[], options: Parameters<typeof run>[1]) => {
    for (const name of names) await writeFile(join(folder, name), name);
    return run(['upload', ...names, '--jobs', '1'], { cwd: folder, isTTY: true, env: environment(), ...options });
  };
  const published = respond(200, recordToJson(someRecord));

  test('shows a bar while a file is sent, and restores cursor and line wrap', async () => {
    const drawn = Promise.withResolvers<void>();
    service.responses = [(response) => void drawn.promise.then(() => published(response))];
    const onStderr = (text: string) => void (/a\.jpg .*%/.test(text) && drawn.resolve());
    const { stdout, stderr } = await uploadOnTerminal(['a.jpg'], { onStderr });
    expect(stdout).toBe(`${someRecord.url}\n`);
    // A signal would leave the terminal without them.
    for (const change of ['[?25l', '[?7l']) expect(stderr).not.toContain(change);
  });

  test('prints an address as soon as its file is published', async () => {
    const printed = Promise.withResolvers<void>();
    service.responses = [published, (response) => void printed.promise.then(() => published(response))];
    const { stdout } = await uploadOnTerminal(['a.jpg', 'b.jpg'], { onStdout: () => printed.resolve() });
    expect(stdout).toBe(`${someRecord.url}\n`.repeat(2));
  });

  test('shows no bar without cursor sequences (TERM=dumb)', async () => {
    const env = { ...environment(), TERM: 'dumb' };
    expect((await uploadOnTerminal(['a.jpg'], { env })).stderr).toBe('');
  });
});

test('a file that changes between two attempts fails at once', async () => {
  const path = join(folder, 'a.jpg');
  await writeFile(path, 'photo');
  const published = respond(200, recordToJson(someRecord));
  service.responses = [(response) => void writeFile(path, 'other').then(() => respond(503)(response)), published];
  const { stderr, ...rest } = await upload('a.jpg');
  expect(rest).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(/^a\.jpg: The file changed while it was read\. Upload it again\.\n$/m);
  expect(service.received).toHaveLength(1);
});

test('a response without a body is an error', async () => {
  await writeFile(join(folder, 'a.jpg'), 'photo');
  service.responses = [respond(204)];
  expect((await upload('a.jpg')).stderr).toBe('a.jpg: The service responded with 204.\n');
  expect(service.received).toHaveLength(1);
});

test('with --json, each file is a JSON object, even if it failed, with the status of a refusal once', async () => {
  for (const name of ['a.jpg', 'b.jpg']) await writeFile(join(folder, name), name);
  service.responses = [respond(200, recordToJson(someRecord)), refuse(415, 'media_unsupported')];
  const { status, stdout, stderr } = await upload('a.jpg', 'b.jpg', 'no.jpg', '--json', '--jobs', '1');
  expect({ status, stderr }).toEqual({ status: 1, stderr: '' });
  const { timestamp: _, ...record } = JSON.parse(recordToJson(someRecord));
  expect(
    stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual([
    { file: 'a.jpg', uploaded: true, record: expect.objectContaining(record) },
    { file: 'b.jpg', error: { status: 415, reason: 'media_unsupported', message: 'A sentence.' } },
    { file: 'no.jpg', error: { reason: 'failed', message: expect.stringContaining('no such file') } },
  ]);
});

test('time per file does not depend on the number of files', async () => {
  const names = (count: number) => Array.from({ length: count }, (_, n) => `no-${n}.jpg`);
  const msEach = async (count: number) => {
    const began = process.cpuUsage();
    await upload(...names(count));
    const { user, system } = process.cpuUsage(began);
    return (user + system) / 1000 / count;
  };
  // Garbage collections only add to a measurement, so the least of several counts.
  const least = async (count: number) => {
    const measured: number[] = [];
    for (let n = 0; n < 3; n += 1) measured.push(await msEach(count));
    return Math.min(...measured);
  };
  expect(await least(2000)).toBeLessThan(4 * (await least(250)));
});

test('empty files and an empty standard input are not sent', async () => {
  await writeFile(join(folder, 'a.jpg'), '');
  expect(await upload('a.jpg', '-')).toEqual({
    status: 1,
    stdout: '',
    stderr: 'a.jpg: The media is empty.\nstandard input: The media is empty.\n',
  });
  expect(service.received).toEqual([]);
});

test('a missing file is reported once', async () => {
  expect((await upload('no.jpg')).stderr).toBe(`${join(folder, 'no.jpg')}: no such file or directory\n`);
});
