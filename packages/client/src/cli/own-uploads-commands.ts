import { recordFields } from '@echodrop/record/response-fields';
import type { Command } from 'commander';
import { toExactJson } from '../exact-json.ts';
import { shellWord } from '../shell-word.ts';
import { quotedName, visible, visibleName } from '../visible-text.ts';
import {
  type CommandContext,
  PartFailed,
  print,
  printError,
  printRow,
  printWhole,
  UsageError,
} from './command-context.ts';
import { addConnectionOptions, type Connection, type ConnectionOptions, connect } from './connection.ts';
import { describeError, errorFields } from './describe-error.ts';
import { parseUpTo } from './parse-up-to.ts';
import { withClient } from './with-client.ts';

const largestPage = 100;
/** The longest caption in a list, in columns. `--json` prints the whole caption. */
const maxCaption = 80;

interface ListCommandOptions extends ConnectionOptions {
  readonly count: number;
  readonly after?: string;
  readonly json?: boolean;
}

/** Adds the commands for the user's own uploads: list, rm. */
export function addOwnUploadsCommands(program: Command, context: CommandContext): void {
  const list = program
    .command('list')
    .description('list your uploads, newest first')
    .option('-n, --count <n>', `uploads per page, up to ${largestPage}`, parseUpTo(largestPage), 20)
    .option('--after <cursor>', 'continue from the cursor that a previous list printed')
    .option('--json', 'print one JSON object: `media`, and `next` if there are more')
    .action((options: ListCommandOptions) => listUploads(context, options));
  addConnectionOptions(list);

  const remove = program
    .command('rm')
    .description('remove uploads, with their pages and pictures; this cannot be undone')
    .argument('<ids...>', 'ids, or URLs of pages')
    .option('--json', 'print a JSON object for each id')
    .addHelpText('after', '\nExample:\n  echodrop rm 4AaBXzv6nZ\n')
    .action((ids: string[], options: ConnectionOptions & { json?: boolean }) => removeUploads(context, ids, options));
  addConnectionOptions(remove);
}

async function listUploads(context: CommandContext, { count, after, json, ...options }: ListCommandOptions) {
  const { records, next } = await withClient(await connect(context, options), (client) =>
    client.list({ count, after }),
  );
  if (json)
    return print(
      context,
      toExactJson({
        media: records.map((record) => recordFields(record, record.user.id)),
        ...(next !== undefined && { next }),
      }),
    );
  for (const { id, timestamp, type, width, height, url, text } of records) {
    const time = timestamp.toISOString().replace(/\.\d+Z$/, 'Z');
    const size = visibleName(`${type} ${width}x${height}`).padEnd(14);
    printRow(context, `${visibleName(id)}  ${time}  ${size}  ${new URL(url).href}  ${quotedName(text, maxCaption)}`);
  }
  if (next === undefined) return;
  // The command leaves out the credentials: a terminal keeps what it shows.
  const { profile, url, provider, allowHttp } = options;
  const named = Object.entries({ count, profile, url, provider, after: next });
  const words = named.flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name} ${shellWord(visible(String(value)))}`],
  );
  if (allowHttp) words.unshift('--allow-http');
  printWhole(context, `More: echodrop list ${words.join(' ')}`);
}

async function removeUploads(
  context: CommandContext,
  args: readonly string[],
  { json, ...options }: ConnectionOptions & { json?: boolean },
) {
  const connection = await connect(context, options);
  let hasFailed = false;
  for (const id of await readIds(connection, args)) {
    try {
      await withClient(connection, (client) => client.remove(id));
      print(context, json ? toExactJson({ id, removed: true }) : visible(`deleted ${id}`));
    } catch (error) {
      hasFailed = true;
      if (json) print(context, toExactJson({ id, removed: false, error: errorFields(error) }));
      else printError(context, visible(`${id}: ${describeError(error)}`));
    }
  }
  if (hasFailed) throw new PartFailed();
}

/** Resolves ids and page addresses to upload ids. @throws UsageError for an address that is not on this site */
async function readIds(connection: Connection, args: readonly string[]): Promise<Set<string>> {
  if (!args.some(isAddress)) return new Set(args);
  // The site's address appears only in records.
  const [newest] = (await withClient(connection, (client) => client.list({ count: 1 }))).records;
  return new Set(args.map((arg) => (isAddress(arg) ? idIn(arg, newest?.url) : arg)));
}

function isAddress(arg: string): boolean {
  return /^https?:/i.test(arg);
}

// The id is the first path segment of a page's address.
function idIn(address: string, url: string | undefined): string {
  if (url === undefined) throw new UsageError(`You have no upload with the URL ${visible(address)}.`);
  const { origin } = new URL(url);
  const id = URL.canParse(address) && new URL(address).pathname.split('/')[1]?.replace(/\.\w+$/, '');
  if (!id || new URL(address).origin !== origin)
    throw new UsageError(`${visible(address)} is not the URL of an upload at ${origin}. No upload was deleted.`);
  return id;
}
