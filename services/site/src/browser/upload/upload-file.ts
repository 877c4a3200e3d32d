import {
  EchodropClient,
  maxRetryAfterMs,
  mayBePublished,
  RequestRefused,
  ServiceUnreachable,
} from '/scripts/client.js';
import { formatCount } from '/scripts/format.js';
import { isSignInExpired, refusalText } from '/scripts/service-client.js';
import { isReadable } from './check-file.ts';
import { clientOptions, hasLostSession, isSignedIn } from './credentials.ts';
import type { FileRow } from './file-row.ts';
import { isSessionRefused } from './session-check.ts';
import { findUnfinished, fingerprintOf, forgetUnfinished, keepUnfinished } from './unfinished-uploads.ts';

/** The file changed since it was chosen. Browsers then refuse to send it, without a reason. */
class Unreadable extends Error {}

class SessionLost extends Error {}

class Offline extends Error {}

/** What a row says whose upload did not begin, or ended without a record. */
export const notUploaded = 'Not uploaded.';

// With pauses of about two minutes together: the restart of a server may take that long.
const retries = 12;
const offlineCheckMs = 60_000;

/** How an upload ended: with the address of the page, or without. */
export type Outcome = { page: string } | 'cancelled' | 'refused' | 'sign-in expired';

export type Options = { signal: AbortSignal; onProgress: () => void; onWait: (sentence: string) => void };

/** Uploads the file of a row and shows on the row how it goes. */
export async function uploadFile(row: FileRow, options: Options): Promise<Outcome> {
  const { signal } = options;
  try {
    const page = await sendOnline(row, options);
    row.publish();
    return { page };
  } catch (error) {
    if (signal.aborted) {
      // What a row in doubt says contradicts it.
      row.stop(row.mayBePublished && signal.reason === notUploaded ? '' : signal.reason);
      return 'cancelled';
    }
    if (error instanceof SessionLost || (isSignedIn() && isSignInExpired(error))) {
      row.stop(row.mayBePublished ? '' : notUploaded);
      return 'sign-in expired';
    }
    row.refuse(failureMessage(error, row.mayBePublished));
    return 'refused';
  }
}

/** Sends the file, again after each time that the browser was offline. @returns the address of the page */
async function sendOnline(row: FileRow, { signal, onProgress, onWait }: Options): Promise<string> {
  const show = (sentence: string) => {
    row.showWait(sentence);
    onWait(sentence);
  };
  for (;;) {
    try {
      return await send(row, { signal, onProgress, onWait: show });
    } catch (error) {
      if (!(error instanceof Offline)) throw error;
      show('Offline. The upload continues when the connection is back.');
      await untilOnline(signal);
    }
  }
}

/** @returns the address of the page @throws Unreadable | SessionLost | Offline or what the client throws */
async function send(row: FileRow, { signal, onProgress, onWait }: Options): Promise<string> {
  const ending = new AbortController();
  const ended = AbortSignal.any([signal, ending.signal]);
  const endIfUseless = async () => {
    const obstacle = await obstacleOf(row);
    if (obstacle) ending.abort(obstacle);
  };
  await Promise.race([endIfUseless(), rejectOnAbort(ended)]);
  const { file } = row;
  const message = row.caption.value;
  const alt = row.alt.value.trim();
  const options = clientOptions();
  const fingerprint = fingerprintOf(file, [String(options.service), message, alt]);
  let before = row.mayBePublished;
  const noteDoubt = (error: unknown) => {
    if (error instanceof RequestRefused) row.mayBePublished = mayBePublished(error, before);
    before = row.mayBePublished;
  };
  try {
    const { url } = await new EchodropClient({ ...options, retries }).upload(file, {
      message,
      alt: alt || undefined,
      idempotencyKey: row.key(),
      signal: ended,
      resumeId: findUnfinished(fingerprint),
      onResumable: (id) => keepUnfinished(fingerprint, id),
      onProgress(sent) {
        row.showProgress(sent);
        onProgress();
      },
      onRetry(error, pauseMs) {
        noteDoubt(error);
        const isLost = error instanceof ServiceUnreachable;
        if (isLost && !navigator.onLine) return ending.abort(new Offline());
        const why = isLost ? 'The connection was lost.' : refusalText(error)?.replace(' Try again later.', '');
        onWait(`${why} Trying again in ${formatCount(Math.ceil(pauseMs / 1000), 'second')}.`);
        void endIfUseless();
      },
    });
    forgetUnfinished(fingerprint);
    return url;
  } catch (error) {
    noteDoubt(error);
    throw error;
  }
}

/** Why another attempt to send a file would be useless. */
async function obstacleOf({ file }: FileRow) {
  if (!(await isReadable(file))) return new Unreadable();
  return hasLostSession() || (await isSessionRefused()) ? new SessionLost() : undefined;
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    if (signal.aborted) reject(signal.reason);
  });
}

/** Waits until the browser is online, or for a minute: some browsers are wrong about it. */
async function untilOnline(signal: AbortSignal) {
  await new Promise((resolve) => {
    window.addEventListener('online', resolve, { once: true });
    signal.addEventListener('abort', resolve, { once: true });
    setTimeout(resolve, offlineCheckMs);
  });
  signal.throwIfAborted();
}

/** What a row says after a failure. `isInDoubt`: the file may be published, so that choosing it again may publish it twice. */
function failureMessage(error: unknown, isInDoubt: boolean) {
  if (error instanceof Unreadable)
    return `The file cannot be read: it is a folder, or was changed or moved.${isInDoubt ? '' : ' Remove it and choose it again.'}`;
  if (error instanceof ServiceUnreachable) return `${error.message} Press Upload to try again.`;
  const refusal = refusalText(error);
  if (refusal === undefined) return `Upload failed: ${error instanceof Error ? error.message : error}`;
  const wait = error instanceof RequestRefused ? (error.retryAfterSeconds ?? 0) : 0;
  return wait * 1000 > maxRetryAfterMs ? `${refusal} Try again in ${formatWait(wait)}.` : refusal;
}

function formatWait(seconds: number) {
  const minutes = Math.ceil(seconds / 60);
  return minutes <= 120 ? formatCount(minutes, 'minute') : formatCount(Math.ceil(minutes / 60), 'hour');
}
