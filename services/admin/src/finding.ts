import { CommandFailed } from './command-context.ts';

/** One result of a test in a sentence. `wrong`: uploads will not work, or will not be safe. */
export interface Finding {
  readonly weight: 'ok' | 'note' | 'warn' | 'wrong';
  readonly sentence: string;
}

const finding =
  (weight: Finding['weight']) =>
  (sentence: string): Finding => ({ weight, sentence });

export const ok = finding('ok');
export const note = finding('note');
export const warn = finding('warn');
export const wrong = finding('wrong');

/** Prints each finding at once. @throws CommandFailed with `summary` at the end if one is wrong */
export async function printFindings(
  findings: AsyncIterable<Finding>,
  print: (line: string) => void,
  summary: string,
): Promise<void> {
  let hasFaults = false;
  for await (const { weight, sentence } of findings) {
    print(`${weight.padEnd(5)}  ${sentence}`);
    hasFaults ||= weight === 'wrong';
  }
  if (hasFaults) throw new CommandFailed(summary);
}
