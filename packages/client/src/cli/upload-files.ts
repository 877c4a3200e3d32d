import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { MediaRecord } from '@echodrop/record';
import { pMapIterable } from 'p-map';
import { RequestRefused } from '../client-errors.ts';
import { openFile } from '../platform/node-media.ts';
import { newIdempotencyKey } from '../upload/idempotency-key.ts';
import type { UploadOptions } from '../upload-client.ts';
import { visible } from '../visible-text.ts';
import { type CommandContext, printNote } from './command-context.ts';
import type { Connection } from './connection.ts';
import { describeError } from './describe-error.ts';
import type { NamedFile } from './expand-files.ts';
import { Ledger } from './ledger.ts';
import { createBars } from './progress-bars.ts';
import { storeInput } from './store-input.ts';
import { withClient } from './with-client.ts';

export interface UploadsOptions {
  readonly message: string;
  readonly alt: string | undefined;
  /** How many files are sent at once. */
  readonly jobs: number;
  /** Whether files that were uploaded before are uploaded again. */
  readonly again: boolean;
  readonly version: 1 | 2;
}

// The page of a deleted upload responds 410 without a wait. That of a new upload may wait for its pictures.
const defaultMaxCheckMs = 3000;

interface Published {
  readonly record: MediaRecord;
  /** Whether the file was sent now, not in an earlier run or under another name. */
  readonly isUploaded: boolean;
}

/** What became of a file. */
export type Outcome = { readonly name: string } & (Published | { readonly error: unknown });

interface Run {
  readonly context: CommandContext;
  readonly connection: Connection;
  readonly options: UploadsOptions;
  /** Running uploads by content key: identical files share one upload. */
  readonly shared: Map<string, Promise<Published>>;
  /** Why an upload could not be added to the ledger. */
  ledgerError?: unknown;
}

/** Uploads files, several at once. Yields the outcomes in the order of the files, each as soon as it is known. */
export async function* uploadFiles(
  context: CommandContext,
  connection: Connection,
  files: readonly NamedFile[],
  options: UploadsOptions,
): AsyncGenerator<Outcome> {
  const run: Run = { context, connection, options, shared: new Map() };
  const bars = createBars(context);
  const upload = (file: NamedFile): Promise<Outcome> => {
    const bar = bars.add(file.name);
    const onRetry = (error: unknown, pauseMs: number) => {
      bars.pause();
      const why = `${visible(file.name)}: ${describeError(error).replace(' Try again later.', '')}`;
      printNote(context, `${why.replace(/[^.)]$/, '$&.')} Trying again in ${Math.ceil(pauseMs / 1000)} s.`);
      bars.resume();
    };
    return uploadFile(run, file, { onProgress: bar.onProgress, onRetry })
      .catch((error: unknown) => ({ name: file.name, error }))
      .finally(() => bar.done());
  };
  // A slow file does not stop those after it, whose outcomes wait for its own.
  const outcomes = pMapIterable(files, upload, { concurrency: options.jobs, backpressure: Infinity });
  try {
    for await (const outcome of outcomes) {
      // Bars and lines would overwrite each other.
      bars.pause();
      yield outcome;
      bars.resume();
    }
    bars.stop();
    if (run.ledgerError !== undefined)
      printNote(
        context,
        `Cannot remember uploads on this machine: ${describeError(run.ledgerError)}. After 24 hours, a repeat uploads them again.`,
      );
  } finally {
    bars.stop();
  }
}

type Watchers = Pick<UploadOptions, 'onProgress' | 'onRetry'>;

async function uploadFile(run: Run, { name, path: given }: NamedFile, watchers: Watchers): Promise<Outcome> {
  const { context, connection, options, shared } = run;
  const { message, alt, again } = options;
  const input = given === undefined ? await storeInput(context.stdin) : undefined;
  const path = given ?? input?.path ?? '';
  try {
    // The same Blob is hashed and sent, so that a file which changes meanwhile is not published under the key of other bytes.
    const media = await openFile(path);
    if (media.size === 0) throw new Error('The media is empty.');
    const { account, service } = connection;
    const key = await contentKey({ media, account, service, message, alt });
    const upload = () => publish(run, { media, key, filename: basename(path), ...watchers });
    if (again) return { name, ...(await upload()) };
    const earlier = shared.get(key);
    if (earlier) return { name, ...(await earlier), isUploaded: false };
    const published = upload();
    shared.set(key, published);
    return { name, ...(await published) };
  } finally {
    input?.remove();
  }
}

interface Upload extends Watchers {
  readonly media: Blob;
  readonly key: string;
  readonly filename: string;
}

async function publish(run: Run, { media, key, ...upload }: Upload): Promise<Published> {
  const { context, connection, options } = run;
  const { message, alt, again, version } = options;
  const ledger = new Ledger(context.env);
  const known = again ? undefined : await ledger.find(key);
  if (known && (await isKept(known, context))) return { record: known, isUploaded: false };
  const onLedgerError = (error: unknown) => {
    run.ledgerError ??= error;
  };
  const idempotencyKey = again ? newIdempotencyKey() : key;
  const onResumable = (id: string) => ledger.addUnfinished(key, id).catch(onLedgerError);
  const uploadOptions = { ...upload, message, alt, version, idempotencyKey, ...(!again && { onResumable }) };
  const record = await withClient(connection, async (client) => {
    // A second call, with a new token, continues the first one.
    const resumeId = again ? undefined : await ledger.findUnfinished(key);
    return client.upload(media, { ...uploadOptions, resumeId });
  });
  // The upload is published, whatever becomes of the entry.
  await ledger.add(key, record).catch(onLedgerError);
  return { record, isUploaded: true };
}

/**
 * Whether the site still has an earlier upload, or does not respond. @throws RequestRefused as the service does for 24 hours if it was removed:
 * only the user decides to publish it again
 */
async function isKept({ url }: MediaRecord, { maxCheckMs = defaultMaxCheckMs }: CommandContext): Promise<boolean> {
  const request = { method: 'HEAD', redirect: 'manual', signal: AbortSignal.timeout(maxCheckMs) } as const;
  const { status } = (await fetch(url, request).catch(() => undefined)) ?? {};
  if (status === 410) throw new RequestRefused({ status, reason: 'removed', message: 'This upload was removed.' });
  return status !== 404;
}

interface Content {
  readonly media: Blob;
  readonly account: string;
  readonly service: string;
  readonly message: string;
  readonly alt: string | undefined;
}

/**
 * Names an upload by what it publishes: the same file with the same text, by the same user to the same service, has the same key, however its
 * address is written. It is the Idempotency-Key and the name in the ledger. @throws NotReadableError if its file changes meanwhile
 */
export async function contentKey({ media, account, service, message, alt }: Content): Promise<string> {
  const content = createHash('sha256');
  await pipeline(media.stream(), content);
  const address = new URL(service).href.replace(/\/+$/, '');
  const parts = [address, account, message, alt?.trim() || null, content.digest('hex')];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
