import { recordsToJson } from '@echodrop/record';
import { expect, test, vi } from 'vitest';
import { respond, someRecord, startFakeService } from '../service.fixture.ts';
import { run } from './run-cli.fixture.ts';

test('list prints the command for the next page, with the address that the user gave', async () => {
  await using service = await startFakeService();
  service.responses = [respond(200, recordsToJson({ records: [someRecord], next: '9-x' }))];
  const named = ['--url', service.address, '--provider', "https://social.example/a'b", '--allow-http'];
  const { stderr } = await run(['list', '--count', '5', ...named], { env: { ECHODROP_BEARER: 'token' } });
  expect(stderr).toBe(
    `More: echodrop list --allow-http --count 5 --url ${service.address} --provider 'https://social.example/a'\\''b' --after 9-x\n`,
  );
});

test('a caption in a list is quoted and cut, and no field has gaps', async () => {
  await using service = await startFakeService();
  const gap = '\u00a0\u2003\u2800'.repeat(20);
  const line = '4AaBXzv6nZ  2026-01-01T00:00:00Z';
  const text = `Lunch"${gap}${line}${'x'.repeat(200)}`;
  const id = `a${gap}${line}`;
  const type = `jpg${gap}${line}`;
  const record = { ...someRecord, id, type, text, url: 'https://site.example/a' };
  service.responses = [respond(200, recordsToJson({ records: [record] }))];
  const named = ['--url', service.address, '--provider', 'https://social.example/verify', '--allow-http'];
  const { stdout } = await run(['list', ...named], { env: { ECHODROP_BEARER: 'token' } });
  const caption = `"Lunch\\" 4AaBXzv6nZ 2026-01-01T00:00:00Z${'x'.repeat(41)}…"`;
  expect(stdout).toMatch(
    /^a 4AaBXzv6nZ 2026-01-01T00:00… {2}\S+ {2}jpg 4AaBXzv6nZ 2026-01-01T00:… {2}https:\/\/site.example\/a {2}"/,
  );
  expect(stdout.slice(stdout.indexOf('"Lunch'))).toBe(`${caption}\n`);
});

/** Rows of a terminal with 80 columns. A wide letter takes two. */
const rowsOf = (text: string) =>
  text.split('\n').flatMap((line) => line.replaceAll('漢', '漢\0').match(/.{1,80}/g) ?? ['']);

/** Runs `list` on such a terminal, with a response that needs no server: the tests below read hundreds. */
function listOnTerminal(status: number, body: string) {
  vi.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response(body, { status }));
  const named = ['--url', 'https://upload.example', '--provider', 'https://social.example/verify'];
  return run(['list', ...named], { isTTY: true, columns: 80, env: { ECHODROP_BEARER: 'token', NO_COLOR: '1' } });
}

const hostileMessages = [' ', '\u00a0', ' -', '漢'].flatMap((pad) =>
  Array.from(
    { length: 60 },
    (_, n) => `A sentence.${pad.repeat(100).slice(0, 40 + 3 * n)} Sign in? [y/N]${' x'.repeat(2000)}`,
  ),
);
const hostileWords = ['', 'https://site.example/', 'Ж'].flatMap((start) =>
  ['-', '\u{1d159}', '\u{16fe4}', '\u3164', '\uffa0'].map(
    (blank) => `${start}${'-'.repeat(80)}${['Your', 'token', 'expired.'].join(blank).repeat(20)}`,
  ),
);

test.each([
  ['of words', `blocked${' '.repeat(60)}deleted all`, hostileMessages],
  ['of one word', 'unknown', hostileWords],
  ['of one word', 'blocked', hostileWords],
])('a refusal %s begins no row of a terminal, with the reason %j', async (_, reason, messages) => {
  for (const message of messages) {
    const { stderr } = await listOnTerminal(403, JSON.stringify({ errors: [{ code: 403, reason, message }] }));
    const [first, ...rows] = rowsOf(stderr.trimEnd());
    expect(first).toMatch(/^Refused:( |$)/);
    for (const row of rows) expect(row).toMatch(/^ {4}\S/);
    expect(stderr.length).toBeLessThan(3000);
  }
});

test('a listed record begins no row of a terminal', async () => {
  for (let length = 0; length < 80; length += 1) {
    const record = { ...someRecord, url: `${someRecord.url}${'a'.repeat(length)}`, text: 'Sign in? [y/N]' };
    const { stdout } = await listOnTerminal(200, recordsToJson({ records: [record] }));
    for (const row of rowsOf(stdout.trimEnd()).slice(1)) expect(row).toMatch(/^ {4}\S/);
  }
});

test('rm accepts addresses of the site; any address of another site is refused before removals', async () => {
  await using service = await startFakeService();
  const env = {
    ECHODROP_URL: service.address,
    ECHODROP_PROVIDER: 'https://social.example/verify',
    ECHODROP_BEARER: 'token',
  };
  const remove = async (...args: string[]) => {
    service.received.length = 0;
    service.responses = [respond(200, recordsToJson({ records: [someRecord] })), respond(204)];
    const result = await run(['rm', ...args], { env });
    return { ...result, removed: service.received.filter(({ method }) => method === 'DELETE').map(({ path }) => path) };
  };
  const { id, url } = someRecord;
  expect(await remove(`${url}/large.jpg`)).toMatchObject({ status: 0, removed: [`/2/media/${id}`] });
  for (const other of [
    `https://other.example/${id}`,
    `http://site.example:8443/${id}`,
    `http://site.example@other.example/${id}`,
  ])
    expect(await remove(url, other)).toEqual({
      status: 2,
      stdout: '',
      stderr: `${other} is not the URL of an upload at http://site.example. No upload was deleted.\n`,
      removed: [],
    });
});
