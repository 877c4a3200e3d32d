import { execa } from 'execa';

const setpriv = ['setpriv', '--pdeathsig', 'TERM', '--'] as const;

/**
 * The words to put before a command so that the system itself sends it SIGTERM when the process that started it is gone, be it by
 * SIGKILL, when no process is left to stop anything. It works for any program and needs nothing of it (an open pipe would have to be
 * watched by each, and Redis would not). Where there is no setpriv with this option, which is outside of Linux, there are no words.
 */
export async function dieWithParent(): Promise<readonly string[]> {
  const { failed } = await execa(setpriv[0], [...setpriv.slice(1), 'true'], { reject: false, timeout: 5000 });
  return failed ? [] : setpriv;
}
