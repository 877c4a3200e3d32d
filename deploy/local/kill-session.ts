import { readdirSync, readFileSync } from 'node:fs';

/**
 * Kills a process that leads a session, and all that it has started, in whichever process group: coreutils' `timeout` makes one of
 * its own. Outside of Linux only its own group is known. It is done when this returns, so that a process can call it as it exits.
 */
export function killSession(leader: number): void {
  const targets = process.platform === 'linux' ? membersOf(leader) : [-leader];
  for (const pid of targets) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

function membersOf(leader: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && sessionOf(pid) === leader);
}

/** The sixth field of proc(5)'s stat; the second one, the program's name, may hold spaces and parentheses. */
function sessionOf(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3]);
  } catch {
    return undefined;
  }
}
