import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { describeUnlessMissing } from '@echodrop/testkit/describe-with-ops-checkers';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { startCuttingProxy } from '@echodrop/testkit/servers/cutting-proxy';
import { type Stack, sandbox, startStack } from '@echodrop/testkit/start-stack';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tusClients } from './clients/tus-clients.ts';

const MiB = 2 ** 20;
// The library sends smaller media as a form.
const size = Number(process.env['RESUMABLE_MIB'] ?? 33) * MiB;

let stack: Stack;

beforeAll(async () => {
  stack = await startStack({ services: ['sandbox-provider', 'auth-verifier', 'gateway'] });
});
afterAll(() => stack?.[Symbol.asyncDispose]());

for (const [name, find] of Object.entries(tusClients)) {
  const client = await find();
  describeUnlessMissing(name, { missing: client ? '' : name, variable: 'REQUIRE_CLIENTS' }, () => {
    test('uploads through a proxy that limits bodies and cuts connections, and a gateway dies meanwhile: one record, with all bytes', {
      timeout: 300_000,
    }, async () => {
      const [recordsBefore, mediaBefore] = [await stack.stored('records'), await stack.stored('media')];
      const file = join(stack.folder, 'large.jpg');
      await writeFile(file, Buffer.concat([await samplePhoto('jpg', { width: 64, height: 48 }), randomBytes(size)]));
      await using other = await startStack({ beside: stack, services: ['gateway'] });
      let death: Promise<void> | undefined;
      await using proxy = await startCuttingProxy([other.gateway, stack.gateway], (sent) => {
        if (sent > size / 2) death ??= other.services.gateway.kill();
      });
      await client?.({
        ...{ address: `${proxy.origin}/files/`, provider: stack.bearerProvider, key: sandbox.apiKey, file },
        ...{ authorization: 'Bearer sandbox-bearer', message: 'over bad connections' },
      });
      await death;
      expect(proxy.cuts).toBeGreaterThanOrEqual(Math.floor(size / (10 * MiB)) - 1);
      expect(await stack.stored('records')).toHaveLength(recordsBefore.length + 1);
      const [key = ''] = (await stack.stored('media')).filter((each) => !mediaBefore.includes(each));
      expect(await sha256(join(stack.folder, 'store/objects/media', key))).toBe(await sha256(file));
    });
  });
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
