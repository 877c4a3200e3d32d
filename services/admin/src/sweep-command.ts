import { parseUpTo } from '@echodrop/client/cli/parse-up-to';
import { type Command, Option } from 'commander';
import { type CommandContext, printFromStore } from './command-context.ts';
import { readSweepConfig } from './config.ts';
import { sweepOnce } from './sweep-once.ts';
import { sweepPeriodically } from './sweep-periodically.ts';

/** Adds the command that finds and deletes orphans. */
export function addSweepCommand(admin: Command, context: CommandContext): void {
  const { signal } = context;
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
}
