import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const msPerTick = 10;

/** Processor time in milliseconds of processes and their children, those that ended once their parent has waited for them. In ticks of 10 ms. */
export function cpuMsOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + ticksOf(pid), 0) * msPerTick;
}

/** Milliseconds that the running threads of processes have run, to the nanosecond (sched-stats of Linux): for those too brief for ticks. */
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
    // It has ended.
    return 0;
  }
}

/** The ids of child processes that their parent has not waited for. */
export function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
    const children = readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8');
    return children.split(' ').filter(Boolean).map(Number);
  });
}

/** Resident memory in MiB. */
export function residentMiB(pid: number): number {
  return kibibytes(`/proc/${pid}/status`, 'VmRSS') / 1024;
}

/** Maximum resident memory in MiB since `forgetPeak`. */
export function peakMiB(pid: number): number {
  return kibibytes(`/proc/${pid}/status`, 'VmHWM') / 1024;
}

/** proc_pid_clear_refs(5): 5 resets the peak to the current size. */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** Memory in MiB, with a share of what other processes use too. */
export function proportionalMiB(pid: number): number {
  return kibibytes(`/proc/${pid}/smaps_rollup`, 'Pss') / 1024;
}

function kibibytes(path: string, name: string): number {
  const found = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(path, 'utf8'));
  if (!found) throw new Error(`${path} has no ${name}`);
  return Number(found[1]);
}
