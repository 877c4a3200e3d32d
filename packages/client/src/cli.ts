import { recordToJson, recordToXml } from '@echodrop/record';
import { Presets, SingleBar } from 'cli-progress';
import { type Command, readCommand, UsageError, usage } from './cli-settings.ts';
import { authorizationOf, uploadMedia } from './client.ts';
import { UploadRefused } from './read-response.ts';

process.exitCode = await run(process.argv.slice(2));

/** @returns the exit status: 0, 1 for a failure, or 2 for invalid arguments */
async function run(args: readonly string[]): Promise<number> {
  try {
    await perform(readCommand(args, process.env));
    return 0;
  } catch (error) {
    process.stderr.write(`${describeError(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

async function perform(command: Command): Promise<void> {
  switch (command.name) {
    case 'help':
      return print(usage.trimEnd());
    case 'sign':
      return print(authorizationOf(command.provider, command.credentials));
    case 'upload':
      return print(await upload(command));
  }
}

async function upload({ service, format, version, ...upload }: Extract<Command, { name: 'upload' }>): Promise<string> {
  const bar = new SingleBar(
    { format: '{bar} {percentage}%  {value} of {total} bytes', hideCursor: true, clearOnComplete: true },
    Presets.shades_classic,
  );
  const onProgress = (sent: number, total: number) => {
    if (!bar.isActive) bar.start(total, 0);
    bar.update(sent);
  };
  try {
    const record = await uploadMedia(service, upload, { version, format, onProgress });
    return format === 'xml' ? recordToXml(record) : recordToJson(record);
  } finally {
    bar.stop();
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

function describeError(error: unknown): string {
  if (error instanceof UsageError) return `${error.message}\n\n${usage}`;
  if (error instanceof UploadRefused) return `Upload refused (${error.status} ${error.reason}): ${error.message}`;
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause as NodeJS.ErrnoException | undefined;
  return cause ? `${error.message}: ${cause.message || cause.code}` : error.message;
}
