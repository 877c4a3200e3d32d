import { escapeLine } from '@echodrop/service/terminal-text';

/** Prints one line of `npm start` or one of its processes. */
export function say(name: string, text: string): void {
  process.stdout.write(`${name.padEnd(16)}  ${escapeLine(text)}\n`);
}

const quiet: ReadonlySet<unknown> = new Set(['trace', 'debug', 'info']);

/** Formats a line of a process for the terminal. Undefined, unless `all`, for logs below a warning and plain text on standard output. */
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
