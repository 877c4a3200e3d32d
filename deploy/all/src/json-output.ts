import { type Output, parseLogLine } from '@echodrop/local/output';
import { escapeLine } from '@echodrop/service/terminal-text';

/** Every line to standard output as JSON, for the container engine's log: those of services and the proxy as they are. */
export const jsonOutput: Output = {
  say: (name, text) => print(wrapped(name, 'info', text)),
  openLog: (name) => ({
    write: (line, from) => {
      if (line !== '') print(parseLogLine(line) ? line : wrapped(name, from === 'stderr' ? 'warn' : 'info', line));
    },
    showLast() {},
    [Symbol.dispose]() {},
  }),
};

function print(line: string): void {
  process.stdout.write(`${escapeLine(line)}\n`);
}

function wrapped(service: string, level: string, msg: string): string {
  return JSON.stringify({ level, time: new Date().toISOString(), service, msg });
}
