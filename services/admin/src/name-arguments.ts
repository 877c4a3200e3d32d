import { quoteForTerminal } from '@echodrop/service/terminal-text';
import { InvalidArgumentError } from 'commander';

// The longest id that a provider may send. A longer name, such as an address in settings, is cut, and `show` prints the whole.
const maxShownCharacters = 255;

const form = 'plain, or in double quotes exactly as `list` and `show` print it';

/** The arguments that name a user or an application, for `Command.argument`. */
export const providerArgument = ['<provider>', `the provider's address: ${form}`, readName] as const;
export const subjectArgument = ['<subject>', `the user's id at the provider: ${form}`, readName] as const;
export const applicationArgument = [
  '<name>',
  `the name of the application's key in API_KEYS, or \`key-…\` for a key without a name: ${form}`,
  readName,
] as const;

/** Prints a provider, subject or application in a form that `readName` reads, unless it is too long to be genuine and is cut. */
export function quoteName(name: string): string {
  return quoteForTerminal(name, maxShownCharacters);
}

/** Reads a provider, subject or application: a JSON string if `argument` begins and ends with a double quote, else as it is. @throws InvalidArgumentError */
export function readName(argument: string): string {
  if (argument === '') throw new InvalidArgumentError('Must not be empty.');
  if (!argument.startsWith('"') || !argument.endsWith('"')) return argument;
  try {
    return JSON.parse(argument);
  } catch {
    throw new InvalidArgumentError(
      'Malformed JSON string: an argument that begins and ends with a double quote must be exactly as `list` or `show` prints it.',
    );
  }
}
