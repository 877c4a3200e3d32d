import { execa } from 'execa';

const setpriv = ['setpriv', '--pdeathsig', 'TERM', '--'] as const;

/**
 * A command prefix that makes the kernel send SIGTERM to the command when its parent dies, even by SIGKILL. It needs no support from
 * the program, unlike a pipe to watch (Redis would not). Empty without a setpriv that has this option (outside Linux).
 */
export async function dieWithParent(): Promise<readonly string[]> {
  const { failed } = await execa(setpriv[0], [...setpriv.slice(1), 'true'], { reject: false, timeout: 5000 });
  return failed ? [] : setpriv;
}
