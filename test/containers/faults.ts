import { join } from 'node:path';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { execa } from 'execa';
import { type ComposeSystem, root } from './compose-system.ts';

const updateMs = 4 * 60_000;

/** Runs deploy/rolling-update for services, or for all. @throws ExecaError with its output */
export async function update(system: ComposeSystem, ...services: string[]): Promise<void> {
  const options = { env: system.env, extendEnv: false, timeout: updateMs };
  await execa(join(root, 'deploy/rolling-update'), services, options);
}

/** Restarts the containers of a service gracefully, one after another. */
export async function stopInTurn(system: ComposeSystem, service: string): Promise<void> {
  for (const container of await system.containersOf(service)) {
    await execa('docker', ['restart', container]);
    await system.healthy(service);
  }
}

/** Kills all processes in the containers of a service (SIGKILL), one after another. Docker restarts them. */
export async function killInTurn(system: ComposeSystem, service: string): Promise<void> {
  for (const container of await system.containersOf(service)) {
    const before = await restartsOf(container);
    // docker-init cannot be killed from inside, but exits after its child.
    await execa('docker', ['exec', container, 'sh', '-c', 'kill -KILL -1'], { reject: false });
    await waitUntil(`a restart of ${service}`, async () => (await restartsOf(container)) > before);
    await system.healthy(service);
  }
}

async function restartsOf(container: string): Promise<number> {
  return Number((await execa('docker', ['inspect', '--format', '{{.RestartCount}}', container])).stdout);
}
