import { escapeLine, escapeLines } from '@echodrop/service/terminal-text';
import { hasLogin } from '../service-address.ts';
import { foldLines } from '../visible-text.ts';

/** What every command works with. */
export interface CommandContext {
  readonly env: NodeJS.ProcessEnv;
  /** The folder in which relative paths begin. */
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

/** Prints a line whole, so that people can copy an address or a command. */
export function printWhole({ stderr }: CommandContext, line: string): void {
  stderr.write(`${escapeLine(line)}\n`);
}

function forStream({ isTTY, columns }: Output, message: string): string {
  const text = escapeLines(message);
  // A terminal that does not know its width reports 0.
  return isTTY ? foldLines(text, columns || 80) : text;
}

const exampleAddress = 'https://upload.example';

/** An http or https URL, without its final slashes. @throws UsageError */
export function webAddress(name: string, address: string, example = exampleAddress): string {
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol))
    throw new UsageError(`${name} must be an http(s) URL, such as ${example}.`);
  if (hasLogin(address))
    throw new UsageError(`${name} must contain no user or password. Use an address such as ${example}.`);
  return address.replace(/\/+$/, '');
}

/** Does what `webAddress` does, for a URL to which paths are added. @throws UsageError */
export function baseAddress(name: string, address: string, example = exampleAddress): string {
  const base = webAddress(name, address, example);
  if (/[?#]/.test(base)) throw new UsageError(`${name} must contain no "?" or "#". Use an address such as ${example}.`);
  return base;
}
