import type { Blockable } from '@echodrop/archive/blocks';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { objectStoreFromSettings } from '@echodrop/object-store/object-store-from-settings';
import { type Command, InvalidArgumentError } from 'commander';
import { type Act, auditLine } from './audit.ts';
import { blockUploads, listBlocks, unblockUploads } from './block.ts';
import { readStoreConfig } from './config.ts';
import { exportUploads } from './export-uploads.ts';
import { listUploads } from './list-uploads.ts';
import { rebuildListings } from './rebuild-listings.ts';
import { purge, removeUploads } from './remove-uploads.ts';

interface Means {
  readonly env: NodeJS.ProcessEnv;
  /** Prints a line for people. */
  readonly print: (line: string) => void;
  /** Writes a line beside what is printed. */
  readonly tell: (line: string) => void;
}

const ofProvider = ['<provider>', "the provider's advertised address, as the record keeps it"] as const;
const ofSubject = ['<subject>', "the user's id as the provider sends it, which the record keeps as `subject`"] as const;

/** The commands that read and change what is published, in the store that the settings name. */
export function addArchiveCommands(admin: Command, { env, print, tell }: Means): void {
  const audit = (act: Act) => tell(auditLine(act));
  const inStore = async (work: (store: ObjectStore) => AsyncIterable<string> | Promise<Iterable<string>>) => {
    await using store = await objectStoreFromSettings(readStoreConfig(env));
    for await (const line of await work(store)) print(line);
  };

  admin
    .command('list')
    .summary('shows the newest uploads, of all or of one user')
    .argument('[provider]', ofProvider[1])
    .argument('[subject]', ofSubject[1])
    .option('--count <n>', 'how many, up to 500', wholeCount, 50)
    .option('--after <cursor>', 'goes on where a list has ended')
    .action((provider: string | undefined, subject: string | undefined, { count, after }, command: Command) => {
      const owner = provider !== undefined && subject !== undefined ? { provider, subject } : undefined;
      if (provider !== undefined && !owner) command.error('Name provider and subject, or neither.');
      return inStore((store) => listUploads(store, { owner, after, limit: count }));
    });

  admin
    .command('remove')
    .summary('takes uploads down: their pages, renditions and media')
    .argument('<id...>', 'the ids, or the addresses of the pages')
    .action((ids: string[]) => inStore((store) => removeUploads(store, ids, audit)));

  admin
    .command('export')
    .summary('writes everything of one user into a folder')
    .description('Writes of each upload of a user the file as it was uploaded, with all its metadata, and the record.')
    .argument(...ofProvider)
    .argument(...ofSubject)
    .argument('<folder>', 'a folder that is new or empty')
    .action((provider: string, subject: string, folder: string) =>
      inStore((store) => exportUploads(store, { provider, subject }, { folder, audit })),
    );

  admin
    .command('purge')
    .summary('takes down everything of one user')
    .argument(...ofProvider)
    .argument(...ofSubject)
    .option('--yes', 'really; else it is only counted')
    .action((provider: string, subject: string, { yes = false }) =>
      inStore((store) => purge(store, { provider, subject }, { dryRun: !yes, audit })),
    );

  const changes = [
    { verb: 'block', summary: (who: string) => `refuses uploads of ${who}`, change: blockUploads },
    { verb: 'unblock', summary: (who: string) => `takes uploads of ${who} again`, change: unblockUploads },
  ];
  for (const { verb, summary, change } of changes) {
    const changed = (who: Blockable) => inStore(async (store) => [await change(store, who, audit)]);
    admin
      .command(`${verb}-user`)
      .summary(summary('a user'))
      .argument(...ofProvider, something)
      .argument(...ofSubject, something)
      .action((provider: string, subject: string) => changed({ kind: 'user', provider, subject }));
    admin
      .command(`${verb}-application`)
      .summary(summary('an application'))
      .argument('<name>', 'the name of its key in API_KEYS, as list shows it', something)
      .action((name: string) => changed({ kind: 'application', name }));
  }
  admin
    .command('blocks')
    .summary('shows who is blocked')
    .action(() => inStore(listBlocks));

  admin
    .command('rebuild-listings')
    .summary('lists every upload anew, for its user and among the newest')
    .action(() => inStore(rebuildListings));
}

function something(text: string): string {
  if (text === '') throw new InvalidArgumentError('It must not be empty.');
  return text;
}

function wholeCount(text: string): number {
  const count = Number(text);
  if (!/^\d{1,3}$/.test(text) || count < 1 || count > 500)
    throw new InvalidArgumentError('It is a number from 1 to 500.');
  return count;
}
