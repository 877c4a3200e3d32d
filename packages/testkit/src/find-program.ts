import { execa } from 'execa';

/** The path of a program in PATH; undefined if there is none. */
export async function findProgram(name: string): Promise<string | undefined> {
  const { stdout, failed } = await execa('/bin/sh', ['-c', 'command -v "$0"', name], { reject: false });
  return failed ? undefined : stdout;
}
