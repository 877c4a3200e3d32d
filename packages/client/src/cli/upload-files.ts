import type { MediaRecord } from '@echodrop/record';
import { newIdempotencyKey } from '../idempotency-key.ts';
import { EchodropClient } from '../node.ts';
import type { Progress } from '../platform.ts';
import type { Format } from '../read-response.ts';
import type { CommandContext } from './command-context.ts';
import type { Connection } from './connection.ts';
import { contentKey } from './content-key.ts';
import type { NamedFile } from './expand-files.ts';
import { Ledger } from './ledger.ts';
import { createBars } from './progress-bars.ts';
import { storeInput } from './store-input.ts';

export interface UploadsOptions {
  readonly message: string;
  readonly alt: string | undefined;
  /** How many are sent at once. */
  readonly jobs: number;
  /** Uploads again what was uploaded before. */
  readonly again: boolean;
  readonly version: 1 | 2;
  readonly format: Format;
}

/** What became of a file. `body` is the response; the ledger has none. */
export type Outcome = { readonly name: string } & (
  | { readonly record: MediaRecord; readonly body: string | undefined }
  | { readonly error: unknown }
);

/** Uploads files, several at once. Yields the outcomes in the order of the files, each as soon as it is known. */
export async function* uploadFiles(
  context: CommandContext,
  connection: Connection,
  files: readonly NamedFile[],
  options: UploadsOptions,
): AsyncGenerator<Outcome> {
  const bars = createBars(context);
  const outcomes: Promise<Outcome>[] = [];
  const running = new Set<Promise<unknown>>();
  const start = async (file: NamedFile): Promise<Outcome> => {
    while (running.size >= options.jobs) await Promise.race(running);
    const bar = bars.add(file.name);
    const upload = uploadFile(context, connection, file, { ...options, onProgress: bar.onProgress })
      .catch((error: unknown) => ({ name: file.name, error }))
      .finally(() => {
        running.delete(upload);
        bar.done();
      });
    running.add(upload);
    return upload;
  };
  for (const file of files) outcomes.push(start(file));
  try {
    // Bars and lines would overwrite each other on a terminal.
    if (context.stdout.isTTY) await Promise.all(outcomes);
    bars.stop();
    yield* outcomes;
  } finally {
    bars.stop();
  }
}

async function uploadFile(
  context: CommandContext,
  connection: Connection,
  { name, path: given }: NamedFile,
  { message, alt, again, version, format, onProgress }: UploadsOptions & { onProgress: Progress | undefined },
): Promise<Outcome> {
  const input = given === undefined ? await storeInput(context.stdin) : undefined;
  const path = given ?? input?.path ?? '';
  try {
    const { account, service } = connection;
    const ledger = new Ledger(context.env);
    const key = await contentKey({ path, account, service, message, alt });
    // The ledger has no XML.
    const known = again || format === 'xml' ? undefined : await ledger.find(key);
    if (known) return { name, record: known, body: undefined };
    let body: string | undefined;
    const client = new EchodropClient({
      ...connection,
      fetch: async (...request) => {
        const response = await fetch(...request);
        body = await response.text();
        return new Response(body, response);
      },
    });
    const idempotencyKey = again ? newIdempotencyKey() : key;
    const filename = input ? 'media' : undefined;
    const record = await client.upload(path, { message, alt, filename, version, format, onProgress, idempotencyKey });
    await ledger.add(key, record);
    return { name, record, body };
  } finally {
    await input?.remove();
  }
}
