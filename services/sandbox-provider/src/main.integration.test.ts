import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '@echodrop/testkit/free-ports';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { execa } from 'execa';
import { afterAll, expect, test } from 'vitest';
import { behaviourNames } from './behaviours.ts';
import { profileEntries } from './profiles.ts';
import { send } from './sandbox.fixture.ts';
import { header, signedFor } from './sign.fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'sandbox-process-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('reads users from the file, and logs without credentials', async () => {
  const file = join(folder, 'users.json');
  writeFileSync(
    file,
    JSON.stringify({
      consumers: [{ key: 'marked-key', secret: 'marked-consumer-secret' }],
      users: [
        {
          id: 7,
          screen_name: 'mia',
          oauth_tokens: [{ token: 'marked-token', secret: 'marked-token-secret' }],
          bearer_tokens: ['marked-bearer'],
        },
      ],
    }),
  );
  const { public: port, ops } = await freePorts(['public', 'ops']);
  const origin = `http://127.0.0.1:${port}`;
  const env = {
    PORT: String(port),
    OPS_PORT: String(ops),
    LOG_LEVEL: 'trace',
    SANDBOX_USERS_FILE: file,
  };
  const sandbox = execa(process.execPath, [join(import.meta.dirname, 'main.ts')], { env, all: true, reject: false });
  try {
    await waitUntil('ready', async () => (await fetch(`http://127.0.0.1:${ops}/readyz`)).ok);
    const statuses = async () =>
      Promise.all(
        profileEntries.flatMap(([, { path, proof }]) => [
          statusOf(origin + path, proof === 'bearer' ? 'Bearer marked-bearer' : markedSignature(origin + path)),
          statusOf(`${origin}${path}?access_token=marked-in-query`, 'Bearer marked-wrong'),
          statusOf(origin + path, 'OAuth oauth_token="marked-odd", oauth_signature="marked-signature"'),
        ]),
      );
    const form = { method: 'POST', 'content-type': 'application/x-www-form-urlencoded' };
    for (const behaviour of behaviourNames.filter((name) => name !== 'endless')) {
      await send(`${origin}/behaviour`, { ...form, body: `behaviour=${behaviour}&seconds=1` });
      const found = await statuses();
      if (behaviour === 'too-many') expect(new Set(found)).toEqual(new Set([429]));
      if (behaviour === 'normal') expect(found.filter((status) => status === 200)).toHaveLength(profileEntries.length);
    }
    await send(`${origin}/behaviour`, { ...form, origin: 'null', body: 'behaviour=marked-behaviour' });
  } finally {
    sandbox.kill('SIGTERM');
  }
  const { all, exitCode } = await sandbox;
  expect(exitCode).toBe(0);
  expect(all).toContain('"msg":"Identity request received"');
  expect(all).not.toContain('marked');
});

function markedSignature(address: string): string {
  return header(
    signedFor(address, {
      oauth: {
        oauth_consumer_key: 'marked-key',
        oauth_token: 'marked-token',
        oauth_nonce: `marked-${crypto.randomUUID()}`,
      },
      secrets: 'marked-consumer-secret&marked-token-secret',
    }),
  );
}

// Some behaviours send no response.
async function statusOf(address: string, authorization: string): Promise<number | undefined> {
  return await send(address, { authorization }).then(
    ({ status }) => status,
    () => undefined,
  );
}
