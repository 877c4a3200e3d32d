import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** Requests of one address over keep-alive connections. */
export interface ReadLoad {
  readonly url: string;
  readonly requests: number;
  readonly connections: number;
  /** The length of each response, if it is known. */
  readonly bytes?: number;
  /** Whether a response 503 is repeated: a rendition that is not ready yet. */
  readonly isPatient?: boolean;
}

/** Sends a load from a new process, which calls `begun` once it is ready. @returns the number of responses other than 200 with all bytes */
export async function readRepeatedly(load: ReadLoad, begun: () => void = () => {}): Promise<number> {
  const child = fork(join(import.meta.dirname, 'read-generator.ts'));
  try {
    await once(child, 'message');
    begun();
    child.send(load);
    const [wrong] = await once(child, 'message');
    return wrong;
  } finally {
    child.kill('SIGKILL');
  }
}
