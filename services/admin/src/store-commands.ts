import { isCheckCursor } from '@echodrop/archive/verify-store';
import { parseUpTo } from '@echodrop/client/cli/parse-up-to';
import { objectStoreFromSettings } from '@echodrop/object-store/object-store-from-settings';
import { type Command, InvalidArgumentError } from 'commander';
import { checkStore } from './check-store.ts';
import { type CommandContext, printFromStore } from './command-context.ts';
import { readStoreConfig } from './config.ts';
import { printFindings } from './finding.ts';
import { testStore } from './test-store.ts';

/** Adds the commands that examine the store: store-test, verify-store. */
export function addStoreCommands(admin: Command, context: CommandContext): void {
  const { signal } = context;
  admin
    .command('store-test')
    .summary('test an object store and explain what follows')
    .description(
      'Test whether Echodrop can use the object store of the settings, and report one finding per line: what it does, what it lacks and what follows, and ' +
        'why it cannot be used. Writes objects of its own, about 20 MB, and removes them. Needs no running system. Use the keys of admin, or the only ones.',
    )
    .action(async () => {
      // Not `printFromStore`, which closes the store at an interruption: its objects are removed first.
      await using store = await objectStoreFromSettings(readStoreConfig(context.env));
      await printFindings(testStore(store, signal), context.print, 'The store test found faults.');
    });

  admin
    .command('verify-store')
    .summary('check the store for faults and orphans; changes nothing')
    .description(
      'Check the store for faults: records without media or listing entries, damaged media, listing entries without an upload. Also reports ' +
        'orphans: media and renditions without a record. Changes nothing. Exits with 1 if there are faults; orphans alone do not count.',
    )
    .option('--moved', 'ignore ETags, after a migration from another kind of store')
    .option('--bytes', 'read all media; compare lengths and checksums')
    .option('--after <cursor>', 'continue from the cursor that an interrupted check printed', parseCursor)
    .option('--concurrency <n>', 'objects to check concurrently, up to 64', parseUpTo(64), 16)
    .action(async ({ moved: isMoved = false, bytes: shouldReadBytes = false, after, concurrency }) => {
      const options = { isMoved, shouldReadBytes, after, concurrency };
      await printFromStore(context, (store) => checkStore(store, options));
    });
}

function parseCursor(text: string): string {
  if (!isCheckCursor(text)) throw new InvalidArgumentError('Invalid cursor.');
  return text;
}
