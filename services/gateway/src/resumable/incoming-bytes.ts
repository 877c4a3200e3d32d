import { createHash, type Hash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { readBody } from '../receive/read-body.ts';
import { Refusal } from '../response/refusal-error.ts';
import { padBase64 } from './tus-headers.ts';

/** Of `Tus-Checksum-Algorithm`. */
export const checksumAlgorithms = ['sha1', 'sha256', 'md5'] as const;

// A client that is silent for longer may be gone.
const silentMs = 1000;

/** The body of a request, as a stream for the store. */
export interface IncomingBytes {
  readonly source: Readable;
  /** Whether the client has sent nothing for a second, although it could. */
  readonly isSilent: () => boolean;
}

/** Reads a body, with the limits of `readBody`. `onChunk` gets each chunk first. The source fails as `readBody` does. */
export function readIncomingBytes(
  request: IncomingMessage,
  limits: Parameters<typeof readBody>[1],
  onChunk: (chunk: Buffer) => void,
): IncomingBytes {
  let [lastAt, isPaused] = [performance.now(), false];
  const source = new Readable({
    read() {
      isPaused = false;
      body.resume();
    },
    destroy(error, done) {
      body.stop(error);
      done(error);
    },
  });
  // It may fail before it is read, and an error without a listener ends the process. Reading it then fails with the error.
  source.on('error', () => {});
  const body = readBody(request, limits, (chunk) => {
    lastAt = performance.now();
    onChunk(chunk);
    if (source.push(chunk)) return;
    isPaused = true;
    body.pause();
  });
  body.ended.then(
    () => source.push(null),
    (error) => source.destroy(error ?? new Error('reading stopped')),
  );
  return { source, isSilent: () => !isPaused && performance.now() - lastAt > silentMs };
}

/** The digest that `Upload-Checksum` announces (tus 1.0.0, "Checksum"), if any. @throws Refusal `checksum_unsupported` */
export function announcedDigest(
  headers: IncomingHttpHeaders,
): { readonly hash: Hash; readonly verify: () => void } | undefined {
  const header = headers['upload-checksum']?.toString();
  if (header === undefined) return undefined;
  const [, name = '', digest = ''] = /^(\w+)[ \t]+([\w+/]+={0,2})$/.exec(header) ?? [];
  const algorithm = checksumAlgorithms.find((each) => each === name.toLowerCase());
  if (algorithm === undefined)
    throw new Refusal('checksum_unsupported', { values: { algorithms: checksumAlgorithms.join(', ') } });
  const hash = createHash(algorithm);
  const verify = () => {
    if (hash.digest('base64') !== padBase64(digest)) throw new Refusal('checksum_mismatch');
  };
  return { hash, verify };
}
