import { readFileSync } from 'node:fs';

/** Whether a process runs. A zombie does not: in a container without an init process, nobody reaps what a killed parent leaves. */
export function isRunning(pid: number | string | undefined): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}
