import { readdirSync, readFileSync } from 'node:fs';

const msPerTick = 10;

/**
 * Milliseconds of processor time that these processes have spent, user and system, in all their threads, with what they have started: children
 * that have ended count once their parent has waited for them. Linux counts in ticks of 10 ms.
 */
export function cpuMsOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + ticksOf(pid), 0) * msPerTick;
}

/**
 * Milliseconds that the threads of these processes have run, to the nanosecond (sched-stats of Linux): for processes that run so briefly that a
 * tick rarely meets them. Threads that have ended, and child processes, do not count.
 */
export function runMsOf(pids: readonly number[]): number {
  const ofThread = (pid: number, thread: string) => {
    try {
      return Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
    } catch {
      return 0;
    }
  };
  const ofProcess = (pid: number) =>
    readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + ofThread(pid, thread), 0);
  return pids.reduce((sum, pid) => sum + ofProcess(pid), 0);
}

// proc_pid_stat(5): the fields after the program's name begin with the third; 14 to 17 are utime, stime, cutime, cstime.
function ticksOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const own = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0);
    return childrenOf(pid).reduce((sum, child) => sum + ticksOf(child), own);
  } catch {
    // It has ended meanwhile.
    return 0;
  }
}

/** The process ids of what a process has started and not yet waited for. */
export function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
    const children = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8');
    return children.split(' ').filter(Boolean).map(Number);
  });
}
