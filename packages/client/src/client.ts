import { openAsBlob } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename } from 'node:path';
import { type OAuthCredentials, signedGet } from '@echodrop/oauth/signed-get';
import type { MediaRecord } from '@echodrop/record';
import { type Format, readRecord, readRefusal } from './read-response.ts';

/** OAuth 1.0a credentials, or a bearer token, which version 1 does not support. */
export type UserCredentials = OAuthCredentials | { readonly bearer: string };

export interface Upload {
  /** Path; the file is streamed. */
  readonly file: string;
  readonly message: string;
  readonly apiKey: string;
  readonly credentials: UserCredentials;
  /** The provider's address as the service lists it; version 1 ignores it. */
  readonly provider: string;
}

/** Called while a file is sent: bytes so far, and bytes of the whole file. */
type Progress = (sent: number, total: number) => void;

interface UploadOptions {
  /** Version 2 (default) sends a signature, version 1 the secrets. */
  readonly version?: 1 | 2;
  readonly format?: Format;
  readonly onProgress?: Progress;
  /** Default: a timeout of six hours. */
  readonly signal?: AbortSignal;
}

const maxUploadMs = 6 * 3600 * 1000;

/**
 * Uploads a file to `service`, an address without a trailing slash. @throws UploadRefused, UnreadableResponse, TypeError if the service is
 * unreachable or version 1 gets a bearer token, the signal's reason, or the system's error if the file cannot be opened
 */
export async function uploadMedia(service: string, upload: Upload, options: UploadOptions = {}): Promise<MediaRecord> {
  const { version = 2, format = 'json', onProgress = () => {}, signal = AbortSignal.timeout(maxUploadMs) } = options;
  const form = new FormData();
  for (const [name, value] of Object.entries(fields(version, upload))) form.set(name, value);
  form.set('media', await measuredFile(upload.file, onProgress));
  const response = await fetch(`${service}/${version}/upload.${format}`, {
    method: 'POST',
    headers: version === 2 ? echoHeaders(upload) : {},
    body: form,
    redirect: 'error',
    signal,
  });
  const body = await response.text();
  if (response.status !== 200) throw readRefusal(format, body, response);
  return readRecord(format, body);
}

/** The headers of version 2. */
export function echoHeaders({ provider, credentials }: Pick<Upload, 'provider' | 'credentials'>) {
  return {
    'X-Auth-Service-Provider': provider,
    'X-Verify-Credentials-Authorization': authorizationOf(provider, credentials),
  };
}

/** The Authorization value for `provider`. */
export function authorizationOf(provider: string, credentials: UserCredentials): string {
  return 'bearer' in credentials ? `Bearer ${credentials.bearer}` : signedGet(provider, credentials);
}

function fields(version: 1 | 2, { apiKey, message, credentials }: Upload): Record<string, string> {
  const common = { key: apiKey, message };
  if (version === 2) return common;
  if ('bearer' in credentials) throw new TypeError('API version 1 does not support bearer tokens');
  const { consumerKey, consumerSecret, token, tokenSecret } = credentials;
  return {
    ...common,
    consumer_token: consumerKey,
    consumer_secret: consumerSecret,
    oauth_token: token,
    oauth_secret: tokenSecret,
  };
}

/** A streamed file that reports how far it has been read. @throws the system's error if it cannot be read */
async function measuredFile(path: string, progress: Progress): Promise<File> {
  // The errors of openAsBlob contain no reason.
  await using probe = await open(path);
  await probe.read({ buffer: Buffer.alloc(1) });
  const content = await openAsBlob(path);
  const stream = () => {
    let sent = 0;
    const measure = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        sent += chunk.byteLength;
        progress(sent, content.size);
        controller.enqueue(chunk);
      },
    });
    return content.stream().pipeThrough(measure);
  };
  return Object.assign(new File([content], basename(path)), { stream });
}
