/** One line of what `npm start` itself or one of its processes says. */
export function say(name: string, text: string): void {
  process.stdout.write(`${name.padEnd(16)}  ${text}\n`);
}

const quiet: ReadonlySet<unknown> = new Set(['trace', 'debug', 'info']);

/**
 * How a line that a process wrote looks on the terminal. A log line (an object with `level` and `msg`) becomes its level, its
 * message and the rest; undefined, meaning that it stays in the log file alone, when it is below a warning and `all` is
 * not asked for. What is no log line stands there as it is when it came from standard error.
 */
export function terminalLine(line: string, from: 'stdout' | 'stderr', all: boolean): string | undefined {
  const logged = logLine(line);
  if (!logged) return all || from === 'stderr' ? line : undefined;
  if (quiet.has(logged.level) && !all) return undefined;
  const { level, msg, time: _time, service: _service, ...rest } = logged;
  const details = Object.keys(rest).length > 0 ? ` ${JSON.stringify(rest)}` : '';
  return `${level}: ${msg ?? ''}${details}`;
}

function logLine(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const parsed: Record<string, unknown> = JSON.parse(line);
    return typeof parsed['level'] === 'string' ? parsed : undefined;
  } catch {
    return undefined;
  }
}
