import { parseUpTo } from '@echodrop/client/cli/parse-up-to';
import type { Command } from 'commander';
import { type CommandContext, printFromStore } from './command-context.ts';
import { readAddressConfig } from './config.ts';
import { exportUpload, exportUploads } from './export-uploads.ts';
import { listUploads, rebuildAndReport } from './listings.ts';
import { providerArgument, subjectArgument } from './name-arguments.ts';
import { purge, removeUploads } from './remove-uploads.ts';
import { showUpload } from './show-upload.ts';
import { readMediaId } from './upload-address.ts';

// Optional for `list`.
const [, ...providerDetails] = providerArgument;
const [, ...subjectDetails] = subjectArgument;
const uploadArgument = 'media id, or any address of the upload: of its page, a picture, its preview, or in the API';

/** Adds the commands for uploads: list, show, remove, export, export-upload, purge, rebuild-listings. */
export function addUploadCommands(admin: Command, context: CommandContext): void {
  const { audit, env } = context;

  admin
    .command('list')
    .description('list the newest uploads, optionally of one user')
    .argument('[provider]', ...providerDetails)
    .argument('[subject]', ...subjectDetails)
    .option('--count <n>', 'number of uploads, up to 500', parseUpTo(500), 50)
    .option('--after <cursor>', 'continue from the cursor that a previous list printed')
    .action((provider: string | undefined, subject: string | undefined, { count, after }, command: Command) => {
      const owner = provider !== undefined && subject !== undefined ? { provider, subject } : undefined;
      if (provider !== undefined && !owner) command.error('Name provider and subject, or neither.');
      return printFromStore(context, (store) => listUploads(store, { owner, after, limit: count }));
    });

  admin
    .command('show')
    .summary('show one upload: its record, user, blocks, listings and stored files')
    .description(
      'Show one upload: its record, its user, whether the user or the application is blocked, whether it is in the listings, and which files the store has.',
    )
    .argument('<upload>', uploadArgument)
    .action((upload: string) => {
      const addresses = readAddressConfig(env);
      const id = readMediaId(upload, addresses);
      return printFromStore(context, (store) => showUpload(store, id, addresses.PUBLIC_SITE_URL));
    });

  admin
    .command('remove')
    .summary('delete uploads: pages, renditions and media')
    .description('Delete uploads: pages, renditions and media. Takes effect at once; no dry run.')
    .argument('<upload...>', uploadArgument)
    .action((uploads: string[]) => {
      const addresses = readAddressConfig(env);
      return printFromStore(context, (store) => removeUploads(store, uploads, { audit, addresses }));
    });

  admin
    .command('export')
    .summary('write all uploads of a user into a folder')
    .description(
      'Write all uploads of a user into a folder: the original files with all their metadata, and the records.',
    )
    .argument(...providerArgument)
    .argument(...subjectArgument)
    .argument('<folder>', 'a new or empty folder')
    .action((provider: string, subject: string, folder: string) =>
      printFromStore(context, (store) => exportUploads(store, { provider, subject }, { folder, audit })),
    );

  admin
    .command('export-upload')
    .summary('write one upload into a folder, for example to keep it as evidence')
    .description('Write one upload into a folder: the original file with all its metadata, and the record.')
    .argument('<upload>', uploadArgument)
    .argument('<folder>', 'a new or empty folder')
    .action((upload: string, folder: string) => {
      const id = readMediaId(upload, readAddressConfig(env));
      return printFromStore(context, (store) => exportUpload(store, id, { folder, audit }));
    });

  admin
    .command('purge')
    .summary('delete all uploads of a user')
    .description('Delete all uploads of a user. If it is interrupted, repeat it: what was deleted stays deleted.')
    .argument(...providerArgument)
    .argument(...subjectArgument)
    .option('--yes', 'delete the uploads (default: dry run)')
    .action((provider: string, subject: string, { yes = false }) =>
      printFromStore(context, (store) => purge(store, { provider, subject }, { dryRun: !yes, audit })),
    );

  admin
    .command('rebuild-listings')
    .summary('add missing uploads to the listings, and delete stale entries')
    .description(
      'Add missing uploads to the listings, and delete stale entries. Takes effect at once; no dry run. If it is interrupted, repeat it.',
    )
    .action(() => printFromStore(context, rebuildAndReport));
}
