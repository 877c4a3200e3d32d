import { join } from 'node:path';
import { escapeLine } from '@echodrop/service/terminal-text';
import { LogFile } from './log-file.ts';
import { type Output, type ProgramLog, parseLogLine } from './output.ts';

const maxLastLines = 5;

/** Prints one line of `npm start` or one of its processes. */
export function say(name: string, text: string): void {
  process.stdout.write(`${name.padEnd(16)}  ${escapeLine(text)}\n`);
}

/** The terminal shows warnings and errors of programs, and the last lines of one that failed; the files `<logDir>/<name>.log` have everything. */
export function terminalOutput(logDir: string): Output {
  return { say, openLog: (name, isVerbose) => openLog(join(logDir, `${name}.log`), name, isVerbose) };
}

/** If a line cannot be written, as on a full disk, the program goes on, and the terminal says so once. */
function openLog(file: string, name: string, isVerbose: boolean): ProgramLog {
  const log = new LogFile(file);
  let lastLines: { readonly text: string; readonly isShown: boolean }[] = [];
  let hasFailed = false;
  const write = (line: string) => {
    try {
      log.write(line);
      hasFailed = false;
    } catch (error) {
      if (!hasFailed) say(name, `cannot write its log: ${error instanceof Error ? error.message : error}`);
      hasFailed = true;
    }
  };
  return {
    write(line, from) {
      write(line);
      const shown = terminalLine(line, from, isVerbose);
      const text = terminalLine(line, from, true);
      if (text) lastLines = [...lastLines, { text, isShown: shown !== undefined }].slice(-maxLastLines);
      if (shown !== undefined) say(name, shown);
    },
    showLast() {
      const hidden = lastLines.filter(({ isShown }) => !isShown);
      lastLines = [];
      if (hidden.length > 0) say(name, `its last lines, more of them in ${file}:`);
      for (const { text } of hidden) say(name, text);
    },
    [Symbol.dispose]: () => log[Symbol.dispose](),
  };
}

const quiet: ReadonlySet<unknown> = new Set(['trace', 'debug', 'info']);

/** Formats a line of a process for the terminal. Undefined, unless `all`, for logs below a warning and plain text on standard output. */
export function terminalLine(line: string, from: 'stdout' | 'stderr', all: boolean): string | undefined {
  const logged = parseLogLine(line);
  if (!logged) return all || from === 'stderr' ? line : undefined;
  if (quiet.has(logged.level) && !all) return undefined;
  const { level, msg, time: _time, service: _service, ...rest } = logged;
  const details = Object.keys(rest).length > 0 ? ` ${JSON.stringify(rest)}` : '';
  return `${level}: ${msg ?? ''}${details}`;
}
