import { resolve } from 'node:path';
import { recordFields } from '@echodrop/record/response-fields';
import { type Command, Option } from 'commander';
import { toExactJson } from '../exact-json.ts';
import { visible } from '../visible-text.ts';
import { type CommandContext, PartFailed, print, printError, printNote, UsageError } from './command-context.ts';
import { addConnectionOptions, type ConnectionOptions, connect } from './connection.ts';
import { describeError, errorFields } from './describe-error.ts';
import { expandFiles } from './expand-files.ts';
import { parseUpTo } from './parse-up-to.ts';
import { type Output, outputs, showRecord } from './show-record.ts';
import { type Outcome, uploadFiles } from './upload-files.ts';

const mostJobs = 16;

interface UploadCommandOptions extends ConnectionOptions {
  readonly message: string;
  readonly alt?: string;
  readonly output: Output;
  readonly jobs: number;
  readonly again: boolean;
  readonly json?: boolean;
}

const examples = `
Examples:
  echodrop upload sea.jpg --message 'At the sea' --alt 'Two boats on a grey sea'
  echodrop upload *.jpg --jobs 4 --output markdown
  grim - | echodrop upload -
  echodrop upload boats.mp4 --json | jq -r .record.url

Server and user come from the first of these that is given:
  1. --profile. With it, --provider and credential options are refused, and ECHODROP_PROVIDER and the credential variables are ignored
  2. --provider or ECHODROP_PROVIDER, with the other options or variables under "Server and credentials";
     an option overrides its variable
  3. ECHODROP_PROFILE
  4. the profile \`default\`
\`echodrop whoami\` shows the result.

Without --again, the same file with the same message and alternative text is uploaded once: uploading it again prints
the first record, or fails if that upload was deleted. The server recognizes repeats for 24 hours. This machine
recognizes them without a time limit, from the list of its uploads in $XDG_STATE_HOME/echodrop (default: ~/.local/state).
If the upload of a file above 32 MiB was interrupted, the same command continues it.
`;
const localExamples = `
Examples:
  npm run upload -- sea.jpg --message 'At the sea' --alt 'Two boats on a grey sea'
  npm run upload -- *.jpg --jobs 4 --output markdown

By default, uploads go to the running \`npm start\`, as its sandbox user; the options and variables above override that.
`;

/** Adds the command `upload`. With `isLocal` it uploads each time, because the data of the system may have been deleted, and prints the record. */
export function addUploadCommand(program: Command, context: CommandContext, isLocal: boolean): void {
  const command = program
    .command('upload')
    .description('upload photos and videos and print their records or URLs')
    .argument(
      '<files...>',
      'paths; - is standard input. If your shell does not expand * and ? in file names, this command does',
    )
    .option('-m, --message <text>', 'public caption', '')
    .option('--alt <text>', 'alternative text: what the photo or video shows')
    .addOption(
      new Option('-o, --output <format>', 'what to print for each published file; failures go to standard error')
        .choices(outputs)
        .default(isLocal ? 'json' : 'url'),
    )
    .option(
      '--json',
      'for scripts: print one JSON object per file, {file, uploaded, record}, or {file, error} if it failed; overrides --output' +
        (isLocal ? '' : '. `uploaded` is false if this machine had uploaded the file before'),
    )
    .option('-j, --jobs <n>', `concurrent uploads, up to ${mostJobs}`, parseUpTo(mostJobs), 3)
    .addOption(
      new Option('--again', 'upload again even if the same file was uploaded before')
        .default(isLocal)
        .hideHelp(isLocal),
    )
    .addOption(new Option('--api-version <n>', 'version of the API').choices(['2', '1']).default('2'))
    .addHelpText('after', isLocal ? localExamples : examples)
    .action((files: string[], options: UploadCommandOptions) => upload(context, files, options));
  addConnectionOptions(command);
}

async function upload(context: CommandContext, args: readonly string[], options: UploadCommandOptions): Promise<void> {
  const { message, alt, jobs, again, apiVersion } = options;
  const connection = await connect(context, options);
  const version = apiVersion === '1' ? 1 : 2;
  if (version === 1 && 'bearer' in connection.credentials)
    throw new UsageError('API version 1 does not support bearer tokens. Leave out --api-version 1.');
  if (!connection.apiKey) throw new UsageError('Missing API key: pass --key or set ECHODROP_KEY.');
  const files = await expandFiles(args, context.cwd);
  let hasFailed = false;
  const uploads = uploadFiles(context, connection, files, { message, alt, jobs, again, version });
  for await (const outcome of uploads) {
    hasFailed ||= 'error' in outcome;
    printOutcome(context, outcome, options);
  }
  if (hasFailed) throw new PartFailed();
}

function printOutcome(context: CommandContext, outcome: Outcome, { json, output, alt }: UploadCommandOptions) {
  const { name } = outcome;
  if ('error' in outcome) {
    if (json) print(context, toExactJson({ file: name, error: errorFields(outcome.error) }));
    else printError(context, describeFailure(context, name, outcome.error));
    return;
  }
  const { isUploaded, record } = outcome;
  if (json)
    return print(
      context,
      toExactJson({ file: name, uploaded: isUploaded, record: recordFields(record, record.user.id) }),
    );
  if (!isUploaded) printNote(context, `${visible(name)}: already uploaded. --again uploads it again.`);
  print(context, showRecord(record, output, alt));
}

function describeFailure({ cwd }: CommandContext, name: string, error: unknown): string {
  const message = describeError(error);
  const hasPath = message.startsWith(visible(resolve(cwd, name)));
  return hasPath ? message : `${visible(name)}: ${message}`;
}
