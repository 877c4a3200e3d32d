import type { ObjectStore } from '@echodrop/object-store/object-store';
import { objectStoreFromSettings } from '@echodrop/object-store/object-store-from-settings';
import { quoteForTerminal } from '@echodrop/service/terminal-text';
import { readStoreConfig } from './config.ts';
import { Progress } from './progress.ts';
import { watchedStore } from './watched-store.ts';

/** What every command works with. */
export interface CommandContext {
  readonly env: NodeJS.ProcessEnv;
  /** Writes a line to standard output, escaped. */
  readonly print: (line: string) => void;
  /** Writes a line to standard error, escaped. */
  readonly log: (line: string) => void;
  readonly audit: Audit;
  /** Milliseconds between reports of a long command on standard error. */
  readonly progressMs: number;
  /** The signal that interrupts the command. */
  readonly signal: AbortSignal;
}

/** Logs an action on the uploads of a user or application, before it happens. */
export type Audit = (action: {
  readonly action: 'remove' | 'block' | 'unblock' | 'export' | 'hand-over';
  readonly mediaId?: string;
  readonly mediaKey?: string;
  readonly provider?: string;
  readonly newProvider?: string;
  readonly subject?: string;
  readonly application?: string;
}) => void;

/** A command did what it could, and found or left something wrong. The exit status is 1. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
}

/**
 * Opens the store that the settings name, prints the lines of `work`, and logs how far long lists are.
 * @throws InvalidSettings, the signal's reason, or the error of `work`
 */
export async function printFromStore(
  { env, print, log, progressMs, signal }: CommandContext,
  work: (store: ObjectStore) => AsyncIterable<string>,
): Promise<void> {
  await using store = await objectStoreFromSettings(readStoreConfig(env));
  using progress = new Progress(log, progressMs);
  for await (const line of work(watchedStore(store, signal, progress))) print(line);
}

/** A key as `list` of the store returned it: quoted if another application, or a service that was taken over, chose it. */
export function shownKey(key: string): string {
  return /^[\w.~/-]{1,512}$/.test(key) ? key : quoteForTerminal(key, Number.POSITIVE_INFINITY);
}
