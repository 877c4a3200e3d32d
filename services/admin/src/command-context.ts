import type { ObjectStore } from '@echodrop/object-store/object-store';
import { objectStoreFromSettings } from '@echodrop/object-store/object-store-from-settings';
import { readStoreConfig } from './config.ts';

/** What every command works with. */
export interface CommandContext {
  readonly env: NodeJS.ProcessEnv;
  /** Writes a line to standard output. */
  readonly print: (line: string) => void;
  /** Writes a line to standard error. */
  readonly log: (line: string) => void;
}

/** Opens the store that the settings name and prints the lines of `work`. @throws InvalidSettings, or the error of `work` */
export async function printFromStore(
  { env, print }: CommandContext,
  work: (store: ObjectStore) => AsyncIterable<string> | Promise<Iterable<string>>,
): Promise<void> {
  await using store = await objectStoreFromSettings(readStoreConfig(env));
  for await (const line of await work(store)) print(line);
}

/** The arguments that name a user, for `Command.argument`. */
export const providerArgument = ['<provider>', "the provider's advertised address, as in the record"] as const;
export const subjectArgument = [
  '<subject>',
  "the user's id as the provider sends it: `subject` in the record",
] as const;
