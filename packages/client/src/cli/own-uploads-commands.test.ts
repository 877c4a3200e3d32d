import { recordsToJson } from '@echodrop/record';
import { expect, test } from 'vitest';
import { respond, someRecord, startFakeService } from '../service.fixture.ts';
import { run } from './run-cli.fixture.ts';

test('list prints the command for the next page, into which a hostile cursor cannot inject options', async () => {
  await using service = await startFakeService();
  const env = { ECHODROP_BEARER: 'token' };
  const hintFor = async (next: string) => {
    service.responses = [respond(200, recordsToJson({ records: [someRecord], next }))];
    const named = ['--url', service.address, '--provider', 'https://social.example/verify', '--allow-http'];
    return (await run(['list', '--count', '5', ...named], { env })).stderr;
  };
  const command = `More: echodrop list --allow-http --count 5 --url ${service.address} --provider https://social.example/verify --after`;
  expect(await hintFor('9-x')).toBe(`${command} 9-x\n`);
  expect(await hintFor("x'; touch owned #")).toBe(`${command} 'x'\\''; touch owned #'\n`);
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
