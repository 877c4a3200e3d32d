import { readFileSync, writeFileSync } from 'node:fs';

/** MiB of a process that are resident. */
export function residentMiB(pid: number): number {
  return kibibytes(`/proc/${pid}/status`, 'VmRSS') / 1024;
}

/** The most that was resident since the peak was forgotten. */
export function peakMiB(pid: number): number {
  return kibibytes(`/proc/${pid}/status`, 'VmHWM') / 1024;
}

/** proc_pid_clear_refs(5): 5 makes the peak what is resident now. */
export function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** MiB of a process with its share of what it has in common with others. */
export function proportionalMiB(pid: number): number {
  return kibibytes(`/proc/${pid}/smaps_rollup`, 'Pss') / 1024;
}

function kibibytes(path: string, name: string): number {
  const found = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(path, 'utf8'));
  if (!found) throw new Error(`${path} has no ${name}`);
  return Number(found[1]);
}
