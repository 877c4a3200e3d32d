import { join } from 'node:path';
import { waitUntil } from '@echodrop/testkit/wait-until';
import { execa } from 'execa';
import { type ComposeSystem, root } from './compose-system.ts';

const updateMs = 4 * 60_000;

/** Renews services, or everything, as an operator does after an update. @throws ExecaError with what it said */
export async function update(system: ComposeSystem, ...services: string[]): Promise<void> {
  const options = { env: system.env, extendEnv: false, timeout: updateMs };
  await execa(join(root, 'deploy/rolling-update'), services, options);
}

/** Restarts a service in order (SIGTERM, or the signal of its image), one container after another. */
export async function stopInTurn(system: ComposeSystem, service: string): Promise<void> {
  for (const container of await system.containersOf(service)) {
    await execa('docker', ['restart', container]);
    await system.healthy(service);
  }
}

/** Kills all that runs in the containers of a service (SIGKILL), one after another; Docker starts them again by itself. */
export async function killInTurn(system: ComposeSystem, service: string): Promise<void> {
  for (const container of await system.containersOf(service)) {
    const before = await restartsOf(container);
    // The first process, docker-init, cannot be killed from within, and ends as what it started has ended.
    await execa('docker', ['exec', container, 'sh', '-c', 'kill -KILL -1'], { reject: false });
    await waitUntil(`a restart of ${service}`, 30_000, async () => (await restartsOf(container)) > before);
    await system.healthy(service);
  }
}

async function restartsOf(container: string): Promise<number> {
  return Number((await execa('docker', ['inspect', '--format', '{{.RestartCount}}', container])).stdout);
}
