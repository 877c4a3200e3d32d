import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Media } from './media.ts';
import type { SystemKind } from './upload-request.ts';

/** Uploads of one sample, over keep-alive connections that are spread over the ports in turn. */
export interface Load {
  readonly kind: SystemKind;
  readonly ports: readonly number[];
  readonly media: Media;
  readonly uploads: number;
  readonly connections: number;
}

export interface HttpResponse {
  readonly status: number;
  readonly body: string;
}

export interface LoadResult {
  readonly latenciesMs: readonly number[];
  readonly responses: readonly HttpResponse[];
}

/** Sends a load from a new process. Calls `begun` once every proof is signed. @throws Error if the process ends early */
export async function generateLoad(load: Load, begun: () => void = () => {}): Promise<LoadResult> {
  const child = fork(join(import.meta.dirname, 'load-generator.ts'), { serialization: 'advanced' });
  try {
    child.send(load);
    await messageOf(child);
    begun();
    child.send('go');
    return (await messageOf(child)) as LoadResult;
  } finally {
    child.kill('SIGKILL');
  }
}

async function messageOf(child: ChildProcess): Promise<unknown> {
  const exited = once(child, 'exit').then(() => {
    throw new Error('The load generator ended early');
  });
  const [message] = await Promise.race([once(child, 'message'), exited]);
  exited.catch(() => {});
  return message;
}
