import { GenericContainer, getContainerRuntimeClient } from 'testcontainers';
import { freePort } from '../free-ports.ts';
import { waitUntil } from '../wait-until.ts';
import type { StoppableServer } from './server-process.ts';

const startMs = 120_000;

interface Wanted {
  readonly image: string;
  /** Default: that of the image. */
  readonly entrypoint?: readonly string[];
  readonly command: readonly string[];
  readonly env?: Record<string, string>;
  /** The port of the server in the container. */
  readonly port: number;
  /** Whether the server at `host:port` is ready. */
  readonly isReady: (host: string, port: number) => Promise<boolean>;
}

/** A server in a container, reachable at `host:port`. */
export interface StoppableContainer extends StoppableServer, AsyncDisposable {
  readonly host: string;
  readonly port: number;
  /** Stops the server gracefully. */
  stop(): Promise<void>;
  /** Runs a command in the container. @returns its output */
  run(command: readonly string[]): Promise<string>;
}

/** Starts a server with Testcontainers and waits until it is ready. Disposing removes the container. */
export async function startContainer(wanted: Wanted): Promise<StoppableContainer> {
  const { image, entrypoint, command, env = {}, port, isReady } = wanted;
  // Only an explicit host port stays the same after a restart.
  const hostPort = await freePort();
  const created = new GenericContainer(image);
  const started = await (entrypoint ? created.withEntrypoint([...entrypoint]) : created)
    .withEnvironment(env)
    .withCommand([...command])
    .withExposedPorts({ container: port, host: hostPort })
    .withStartupTimeout(startMs)
    .start();
  const { container: containers } = await getContainerRuntimeClient();
  const container = containers.getById(started.getId());
  const host = started.getHost();
  const serves = () => waitUntil(`a response of ${image}`, () => isReady(host, hostPort));
  const state = async () => (await container.inspect()).State;
  const kill = async () => {
    if ((await state()).Running) await container.kill();
  };
  await serves();
  return {
    host,
    port: hostPort,
    freeze: () => container.pause(),
    async thaw() {
      if ((await state()).Paused) await container.unpause();
    },
    kill,
    stop: () => container.stop(),
    async restart() {
      await kill();
      await container.start();
      await serves();
    },
    run: async (words) => (await started.exec([...words])).stdout.trimEnd(),
    async [Symbol.asyncDispose]() {
      await started.stop();
    },
  };
}
