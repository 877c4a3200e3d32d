import { rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { patienceMs } from '@echodrop/testkit/patience';
import { listen } from '@echodrop/testkit/servers/listen';
import { type ServiceName, type Stack, startStack } from '@echodrop/testkit/start-stack';
import { expect, test } from 'vitest';

interface Report {
  readonly ready: boolean;
  readonly parts: Record<string, string>;
  readonly reasons?: Record<string, string>;
}

const storeUsers = ['gateway', 'site', 'probe-worker', 'rendition-worker'] as const;
const secretKey = 'a secret key of this test';

async function reportOf(stack: Stack, service: ServiceName): Promise<Report> {
  return (await (await fetch(`${stack.ops(service)}/readyz`)).json()) as Report;
}

/** The log lines with this message about the part `part`. */
function lines(stack: Stack, service: ServiceName, message: string, part?: string) {
  const all = stack.services[service].output.split('\n').filter((line) => line.startsWith('{'));
  return all.map((line) => JSON.parse(line)).filter((line) => line.msg === message && line.part === part);
}

/** Expects readiness and part of a service, and one more line that says so, however often it is probed. */
async function expectLogged(stack: Stack, service: ServiceName, part: string, message: string): Promise<void> {
  await expect.poll(() => lines(stack, service, message, part).length, { timeout: patienceMs }).toBe(1);
  for (let probe = 0; probe < 20; probe += 1) await reportOf(stack, service);
  expect(lines(stack, service, message, part), `${service}: ${stack.services[service].output}`).toHaveLength(1);
}

test('every service says in /readyz and once in its log which component is down and why, and when it is back', async () => {
  await using stack = await startStack();
  const store = join(stack.folder, 'store');
  await rename(store, `${store}.aside`);
  await writeFile(store, '');
  const each = (check: (service: ServiceName) => Promise<void>) => Promise.all(storeUsers.map(check));
  await each(async (service) => {
    await expect.poll(() => reportOf(stack, service)).toMatchObject({ ready: false, parts: { store: 'down' } });
    expect((await reportOf(stack, service)).reasons?.['store']).toMatch(
      /object store request failed: ENOTDIR.*store-id/,
    );
    await expectLogged(stack, service, 'store', 'Component is down');
  });
  const refreshFailures = () => lines(stack, 'gateway', 'Failed to refresh block list').map(({ reason }) => reason);
  const refreshes = () => lines(stack, 'gateway', 'Block list refreshed again').length;
  await expect.poll(refreshFailures).toEqual([expect.stringContaining('ENOTDIR')]);
  await rm(store);
  await rename(`${store}.aside`, store);
  await each(async (service) => {
    await expect.poll(() => reportOf(stack, service)).toMatchObject({ ready: true });
    expect(await reportOf(stack, service)).not.toHaveProperty('reasons');
    await expectLogged(stack, service, 'store', 'Component is up again');
  });

  await expect.poll(refreshes).toBe(1);
  const blocks = join(store, 'objects/blocks');
  await symlink('blocks', blocks);
  await expect.poll(refreshFailures).toContainEqual(expect.stringContaining('ELOOP'));
  const retries = /echodrop_store_call_seconds_count\{[^}]*operation="list",outcome="unavailable"[^}]*\} ([4-9]|\d\d)/;
  await expect.poll(() => stack.metrics('gateway')).toMatch(retries);
  await rm(blocks);
  await expect.poll(refreshes).toBe(2);
  expect(refreshFailures()).toHaveLength(2);

  await stack.redis.kill();
  const parts = [
    ['gateway', 'queue', false],
    ['gateway', 'cache', false],
    ['auth-verifier', 'cache', true],
    ['site', 'queue', true],
    ['probe-worker', 'queue', false],
    ['rendition-worker', 'queue', false],
  ] as const;
  const down = parts.map(async ([service, part, ready]) => {
    await expect.poll(() => reportOf(stack, service)).toMatchObject({ ready, parts: { [part]: 'down' } });
    await expect.poll(async () => (await reportOf(stack, service)).reasons?.[part]).toContain('ECONNREFUSED');
    await expect.poll(() => lines(stack, service, 'Component is down', part).length).toBeGreaterThan(0);
  });
  await Promise.all(down);
  await stack.redis.restart();
  await Promise.all(parts.map(([service, part]) => expectLogged(stack, service, part, 'Component is up again')));
});

test('a site or worker with a wrong S3 key says so', async () => {
  let isRefused = false;
  const server = createServer((_, response) => response.writeHead(isRefused ? 403 : 200, { date: 'x' }).end());
  await using listening = await listen(server);
  const services = ['site', 'probe-worker', 'rendition-worker'] as const;
  const store = { OBJECT_STORE: 's3', S3_ENDPOINT: listening.origin, S3_BUCKET: 'bucket', S3_ACCESS_KEY: 'key' };
  await using stack = await startStack({ services, settings: { ...store, S3_SECRET_KEY: secretKey } });
  isRefused = true;
  for (const service of services) {
    const reasons = { store: 'object store responded with 403' };
    await expect.poll(() => reportOf(stack, service)).toMatchObject({ ready: false, reasons });
    await expectLogged(stack, service, 'store', 'Component is down');
    expect(stack.services[service].output).not.toContain(secretKey);
  }
});
