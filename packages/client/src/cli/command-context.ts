import { escapeLine, escapeLines } from '@echodrop/service/terminal-text';
import { foldLines, mostColumnsOf } from '../visible-text.ts';

/** What every command works with. */
export interface CommandContext {
  readonly env: NodeJS.ProcessEnv;
  /** Relative paths are below it. */
  readonly cwd: string;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean | undefined };
  readonly stdout: Output;
  readonly stderr: Output;
  /** How long a site may take to say whether an earlier upload still exists. Default: 3000. */
  readonly maxCheckMs?: number;
}

export type Output = Pick<NodeJS.WriteStream, 'write'> & {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
};

/** The arguments or settings are invalid: exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A command did what it could, and part of it failed. What failed is printed already: exit status 1. */
export class PartFailed extends Error {
  override readonly name = 'PartFailed';
}

/** Prints a line for programs. */
export function print({ stdout }: CommandContext, line: string): void {
  stdout.write(`${escapeLine(line)}\n`);
}

/** Prints a line for people, who must not take untrusted text for a line of its own. */
export function printRow({ stdout }: CommandContext, line: string): void {
  stdout.write(`${forStream(stdout, escapeLine(line))}\n`);
}

/** Prints a message for people, in red on a terminal that has colours. */
export function printError({ stderr, env }: CommandContext, message: string): void {
  const text = forStream(stderr, message);
  const isColoured = stderr.isTTY && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
  stderr.write(isColoured ? `\u001b[31m${text}\u001b[39m\n` : `${text}\n`);
}

export function printNote({ stderr }: CommandContext, message: string): void {
  stderr.write(`${forStream(stderr, message)}\n`);
}

/** Prints an address on a line of its own, whole, so that people can copy it. */
export function printAddress({ stderr }: CommandContext, address: string): void {
  stderr.write(`${escapeLine(address)}\n`);
}

/**
 * Prints a command to copy, after a title. On a terminal it goes on in rows that a shell joins. Prints `otherwise` if its last word, which is
 * untrusted, fits into no row.
 */
export function printCommand(
  context: CommandContext,
  title: string,
  words: readonly string[],
  otherwise: string,
): void {
  const { isTTY, columns } = context.stderr;
  const width = isTTY ? columns || 80 : Infinity;
  const rows = [title];
  for (const word of words.map(escapeLine)) {
    const row = `${rows.pop()} ${word}`;
    // A blank and a backslash may follow.
    if (mostColumnsOf(row) <= width - 2) rows.push(row);
    else rows.push(`${row.slice(0, -word.length)}\\`, `    ${word}`);
  }
  if (mostColumnsOf(rows.at(-1) ?? '') > width - 2) printNote(context, otherwise);
  else context.stderr.write(`${rows.join('\n')}\n`);
}

function forStream({ isTTY, columns }: Output, message: string): string {
  const text = escapeLines(message);
  // A terminal that does not know its width says 0.
  return isTTY ? foldLines(text, columns || 80) : text;
}

const exampleAddress = 'https://upload.example';

/** An http or https URL, without its final slashes. @throws UsageError */
export function webAddress(name: string, address: string, example = exampleAddress): string {
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol))
    throw new UsageError(`${name} must be an http(s) URL, such as ${example}.`);
  const { username, password } = new URL(address);
  // It would be shown in messages.
  if (username || password)
    throw new UsageError(`${name} must contain no user or password. Use an address such as ${example}.`);
  return address.replace(/\/+$/, '');
}

/** As `webAddress`, for a URL to which paths are added. @throws UsageError */
export function baseAddress(name: string, address: string, example = exampleAddress): string {
  const base = webAddress(name, address, example);
  if (/[?#]/.test(base)) throw new UsageError(`${name} must contain no "?" or "#". Use an address such as ${example}.`);
  return base;
}
