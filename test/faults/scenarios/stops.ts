import { setTimeout as sleep } from 'node:timers/promises';
import { RawClient } from '@echodrop/testkit/raw-client';
import { samplePhoto } from '@echodrop/testkit/samples/sample-media';
import { uploadRequest } from '@echodrop/testkit/upload';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { onDispose } from '../on-dispose.ts';
import type { GameDay, Scenario } from '../scenario.ts';
import type { RunningService } from '../start-system.ts';

const replicated = ['auth-verifier', 'probe-worker', 'rendition-worker', 'site', 'gateway'];
const clients = 20;
// The delay of the last client between connecting and sending, as on an overloaded machine.
const starvedMs = 1500;

/** Graceful stops: no admitted upload may fail. */
export const stopScenarios: readonly Scenario[] = [
  {
    name: 'stop the gateway while clients connect',
    breaks: `SIGTERM of the gateway; ${clients} clients have connected, and send their uploads up to ${starvedMs} ms later`,
    forSeconds: 0,
    isShort: true,
    begin: stopWhileConnecting,
  },
  {
    name: 'restart one replica after another',
    breaks: 'SIGTERM and a restart of every replica of every service, one after another',
    forSeconds: 0,
    on: 'two of each',
    begin: restartInTurn,
  },
];

async function stopWhileConnecting({ system, broke, note }: GameDay): Promise<AsyncDisposable> {
  const { gateway } = system.servers;
  const service = system.services.find(({ name }) => name === 'gateway') as RunningService;
  const media = await samplePhoto('jpg', { width: 64, height: 48 });
  const connected = await Promise.all(
    Array.from({ length: clients }, () => RawClient.connect(system.gateways[0] ?? '')),
  );
  // The gateway accepts them within two turns of its event loop.
  for (let turn = 0; turn < 2; turn += 1) await (await fetch(`${service.ops}/livez`)).text();
  const stopping = service.server.stop();
  broke();
  const uploads = connected.map(async (client, n) => {
    await using raw = client;
    await sleep((starvedMs * n) / clients);
    const { path, headers, body } = uploadRequest(system, { media, message: 'unfinished' });
    raw.head(path, headers, body.length);
    await raw.flush(body);
    await waitUntil('a response or disconnect', async () => raw.closed || raw.received.includes('\r\n\r\n'));
    const [status = 'nothing'] = raw.received.split('\r\n', 1);
    if (!status.startsWith('HTTP/1.1 200')) note('an accepted connection got no response', `client ${n}: ${status}`);
  });
  await Promise.all([...uploads, stopping]);
  return onDispose(() => gateway?.restart());
}

async function restartInTurn({ system, broke, load, note }: GameDay): Promise<AsyncDisposable> {
  const before = load.failures.length;
  for (const service of system.services.filter(({ name }) => replicated.includes(name))) {
    await service.server.stop();
    broke();
    await load.waitForRecovery();
    await service.server.restart();
    await load.waitForRecovery();
  }
  for (const why of load.failures.slice(before)) note('an upload failed', why);
  return onDispose(() => {});
}
