import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '@echodrop/testkit/free-ports';
import { setBehaviour } from '@echodrop/testkit/provider/sandbox-behaviour';
import { ServerProcess } from '@echodrop/testkit/servers/server-process';
import { oauthHeader, signedParameters } from '@echodrop/testkit/sign-echo';
import { expect, test } from 'vitest';
import { behaviourNames } from './behaviours.ts';
import { profileEntries } from './profiles.ts';
import { send } from './sandbox.fixture.ts';

test('reads users from the file, and logs without credentials', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'sandbox-process-'));
  const file = join(folder.path, 'users.json');
  await writeFile(
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
  const ports = await freePorts(['public', 'ops']);
  const origin = `http://127.0.0.1:${ports.public}`;
  await using sandbox = await ServerProcess.start({
    command: [process.execPath, join(import.meta.dirname, 'main.ts')],
    env: { PORT: `${ports.public}`, OPS_PORT: `${ports.ops}`, LOG_LEVEL: 'trace', SANDBOX_USERS_FILE: file },
    isReady: async () => (await fetch(`http://127.0.0.1:${ports.ops}/readyz`)).ok,
  });
  const statuses = async () =>
    Promise.all(
      profileEntries.flatMap(([, { path, proof }]) => [
        statusOf(origin + path, proof === 'bearer' ? 'Bearer marked-bearer' : markedSignature(origin + path)),
        statusOf(`${origin}${path}?access_token=marked-in-query`, 'Bearer marked-wrong'),
        statusOf(origin + path, 'OAuth oauth_token="marked-odd", oauth_signature="marked-signature"'),
      ]),
    );
  for (const behaviour of behaviourNames.filter((name) => name !== 'endless')) {
    await setBehaviour(origin, behaviour, 1);
    const found = await statuses();
    if (behaviour === 'too-many') expect(new Set(found)).toEqual(new Set([429]));
    if (behaviour === 'normal') expect(found.filter((status) => status === 200)).toHaveLength(profileEntries.length);
  }
  const form = { 'content-type': 'application/x-www-form-urlencoded', body: 'behaviour=marked-behaviour' };
  await send(`${origin}/behaviour`, { method: 'POST', origin: 'null', ...form });
  await sandbox.stop();
  expect(sandbox.output).toContain('"msg":"Identity request received"');
  expect(sandbox.output).not.toContain('marked');
});

function markedSignature(address: string): string {
  const consumer = { key: 'marked-key', secret: 'marked-consumer-secret' };
  const token = { key: 'marked-token', secret: 'marked-token-secret' };
  const oauth = { oauth_nonce: `marked-${crypto.randomUUID()}` };
  return oauthHeader(signedParameters(address, { consumer, token }, { oauth }));
}

// Some behaviours send no response.
async function statusOf(address: string, authorization: string): Promise<number | undefined> {
  return await send(address, { authorization }).then(
    ({ status }) => status,
    () => undefined,
  );
}
