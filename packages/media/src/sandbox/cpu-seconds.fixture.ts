import { readFileSync } from 'node:fs';

// Linux reports times in hundredths of a second, whatever its clock is.
const ticksPerSecond = 100;

/** The processor time of a process, by default this one, and of the programs that it started and that have ended: unlike elapsed time, the same on a busy machine. */
export function cpuSeconds(pid: number | 'self' = 'self'): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // utime, stime, cutime, cstime of proc_pid_stat(5), which counts from 1 and begins before the name.
  const times = fields.slice(11, 15).map(Number);
  return times.reduce((sum, each) => sum + each, 0) / ticksPerSecond;
}
