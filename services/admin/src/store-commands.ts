import { isCheckCursor } from '@echodrop/archive/verify-store';
import type { ObjectStore } from '@echodrop/object-store/object-store';
import { objectStoreFromSettings } from '@echodrop/object-store/object-store-from-settings';
import { type Command, InvalidArgumentError } from 'commander';
import { readStoreConfig, readSweepConfig } from './config.ts';
import { StopAsked } from './stop-asked.ts';
import { sweepForEver, sweepOnce } from './sweep.ts';
import { verified } from './verify-store.ts';

interface Means {
  readonly env: NodeJS.ProcessEnv;
  /** Prints a line for people. */
  readonly print: (line: string) => void;
  /** Writes a line beside what is printed. */
  readonly tell: (line: string) => void;
}

/** The commands that look after the store as a whole. */
export function addStoreCommands(admin: Command, { env, print, tell }: Means): void {
  const inStore = async (
    work: (store: ObjectStore, signal: AbortSignal) => AsyncIterable<string> | Promise<Iterable<string>>,
  ) => {
    using stop = new StopAsked();
    await using store = await objectStoreFromSettings(readStoreConfig(env));
    for await (const line of await work(store, stop.signal)) print(line);
  };

  admin
    .command('sweep')
    .summary('removes what nobody will ever see: media without a record, and what uploads have left unfinished')
    .description(
      'Finds media and renditions that no record names, and uploads that never came to their end, when they are older than a day, and what a ' +
        'removal has left. Without --yes it changes nothing. Uploads may go on meanwhile; a backup must not be brought back meanwhile. While a record ' +
        'cannot be read, nothing is removed.',
    )
    .option('--yes', 'really; else it is only counted')
    .option('--even-most', 'also where most media has no record, which else is taken for records that were lost')
    .option('--every <hours>', 'again and again, until it is told to stop', hours)
    .option('--older-than <hours>', 'spares what is younger', hours, 24)
    .action(({ yes = false, force = false, every: everyHours, olderThan: olderThanHours }, command: Command) => {
      const { MAX_UPLOAD_SECONDS: longest } = readSweepConfig(env);
      const least = Math.ceil(longest / 3600) + 1;
      if (olderThanHours < least) {
        command.error(
          `An upload may take ${longest} seconds (MAX_UPLOAD_SECONDS): --older-than must be at least ${least}.`,
        );
      }
      return inStore((store, signal) => {
        const sweeping = { olderThanHours, dryRun: !yes, force, signal };
        if (everyHours === undefined) return sweepOnce(store, sweeping);
        return sweepForEver(store, { ...sweeping, everyHours, failed: (error) => tell(`Not swept: ${error}`) });
      });
    });

  admin
    .command('verify-store')
    .summary('tells whether every record has its media, and what else is wrong or left over in the store')
    .description(
      'Looks at every record, its media and its entries in the lists, at every entry, and at all media and renditions. It changes nothing. The exit ' +
        'status is 1 when something is wrong; media without a record is not.',
    )
    .option('--moved', 'everything came here from another kind of store: sizes are compared, tags are not')
    .option('--bytes', 'reads all media, and compares lengths and checksums')
    .option('--after <cursor>', 'goes on where a check has ended', checkCursor)
    .option('--at-once <n>', 'how many objects are looked at together, up to 64', fewAtOnce, 16)
    .action(({ moved: isMoved = false, bytes: readsBytes = false, after, atOnce }) =>
      inStore((store, signal) => verified(store, { isMoved, readsBytes, after, atOnce, signal })),
    );
}

function hours(text: string): number {
  return numberUpTo(text, 10_000);
}

function fewAtOnce(text: string): number {
  return numberUpTo(text, 64);
}

function numberUpTo(text: string, most: number): number {
  const number = Number(text);
  if (!/^\d{1,5}$/.test(text) || number < 1 || number > most)
    throw new InvalidArgumentError(`It is a number from 1 to ${most}.`);
  return number;
}

function checkCursor(text: string): string {
  if (!isCheckCursor(text)) throw new InvalidArgumentError('It is what an earlier check has printed.');
  return text;
}
