import type { ChildProcess } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';

/** The paths of the programs that this process starts during `work`. */
export async function processesStarted(work: () => Promise<unknown>): Promise<string[]> {
  const started: ChildProcess[] = [];
  const note = (message: unknown) => started.push((message as { process: ChildProcess }).process);
  subscribe('child_process', note);
  try {
    await work();
  } finally {
    unsubscribe('child_process', note);
  }
  return started.map(({ spawnfile }) => spawnfile);
}
