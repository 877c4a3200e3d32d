import { readdirSync, readFileSync } from 'node:fs';

/**
 * Kills the leader of a session and all its descendants, in any process group: coreutils' `timeout` creates its own. Outside Linux only the
 * leader's group is known. Synchronous, so that a process can call it as it exits.
 */
export function killSession(leader: number): void {
  const members = () =>
    readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0 && sessionOf(pid) === leader);
  for (const pid of process.platform === 'linux' ? members() : [-leader]) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** The sixth field of proc(5)'s stat. The second, the program's name, may contain spaces and parentheses. */
function sessionOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3]);
  } catch {
    return undefined;
  }
}
