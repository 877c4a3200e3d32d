import { isCheckCursor } from '@echodrop/archive/verify-store';
import { parseUpTo } from '@echodrop/client/cli/parse-up-to';
import { objectStoreFromSettings } from '@echodrop/object-store/object-store-from-settings';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { checkStore } from './check-store.ts';
import { type CommandContext, printFromStore } from './command-context.ts';
import { readStoreConfig, readSweepConfig } from './config.ts';
import { printFindings } from './finding.ts';
import { sweepOnce } from './sweep-once.ts';
import { sweepPeriodically } from './sweep-periodically.ts';
import { testStore } from './test-store.ts';

/** Adds the commands for the whole store: store-test, sweep, verify-store. */
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
    .command('sweep')
    .summary('find orphans and incomplete multipart uploads; delete them with --yes')
    .description(
      'Find orphans (media and renditions without a record), incomplete multipart uploads, expired resumable uploads, and leftovers of ' +
        'interrupted deletions. Also find published uploads that are missing from the listings (by user and by time). ' +
        'With --yes, delete the orphans, the incomplete and expired uploads and the leftovers, and add the missing uploads to the listings. ' +
        'Without --yes, a dry run. Safe while uploads run; never run it while a backup is being restored. If a record is unreadable, media and renditions stay.',
    )
    .option('--yes', 'apply the changes (default: dry run)')
    .option(
      '--force',
      'delete orphans even if most media has no record. Without this option, the sweep fails in that case: the records are probably lost, so restore them',
    )
    // This was the command's name before 0.2.
    .addOption(new Option('--even-most').hideHelp())
    .option('--full', 'read all records (default: once a week, and whenever something may be an orphan)')
    .option('--every <hours>', 'sweep every <hours> hours until stopped', parseUpTo(10_000))
    .option(
      '--older-than <hours>',
      'delete orphans and incomplete multipart uploads only if they are older than this',
      parseUpTo(10_000),
      24,
    )
    .action(
      async (
        { yes = false, evenMost = false, force = evenMost, full = false, every: everyHours, olderThan: olderThanHours },
        command: Command,
      ) => {
        const { MAX_UPLOAD_SECONDS: uploadSeconds } = readSweepConfig(context.env);
        const minHours = Math.ceil(uploadSeconds / 3600) + 1;
        if (olderThanHours < minHours)
          command.error(`--older-than must be at least ${minHours}: MAX_UPLOAD_SECONDS is ${uploadSeconds}.`);
        const options = { olderThanHours, dryRun: !yes, force, full, signal };
        const logFailure = (error: unknown) => context.log(`Sweep failed: ${error}`);
        await printFromStore(context, (store) => {
          const sweepNow = () => sweepOnce(store, options);
          return everyHours === undefined
            ? sweepNow()
            : sweepPeriodically(sweepNow, { everyHours, logFailure, signal });
        });
      },
    );

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
