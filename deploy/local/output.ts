/** Where the supervisor says what happens, and where the output of its programs goes. */
export interface Output {
  /** Says one line about a program or the system. */
  say(name: string, text: string): void;
  /** Opens the log of a program. `isVerbose`: whether all lines are of interest, not only warnings and errors. */
  openLog(name: string, isVerbose: boolean): ProgramLog;
}

/** Takes the lines that a program prints. It never throws. */
export interface ProgramLog extends Disposable {
  write(line: string, from: 'stdout' | 'stderr'): void;
  /** Shows the last lines of a run that failed, unless they have been shown. */
  showLast(): void;
}

/** The fields of a line of a service's log; undefined for any other text. */
export function parseLogLine(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const parsed: Record<string, unknown> = JSON.parse(line);
    return typeof parsed['level'] === 'string' ? parsed : undefined;
  } catch {
    return undefined;
  }
}
