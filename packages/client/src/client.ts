import { type OAuthCredentials, signedGet } from '@echodrop/oauth/signed-get';
import type { MediaRecord } from '@echodrop/record';
import { measuredFile, type Progress } from './measured-file.ts';
import { type Format, readRecord, readRefusal } from './read-answer.ts';

/** What proves a user: signatures by OAuth 1.0a, or a bearer token, of which version 1 knows nothing. */
export type UserCredentials = OAuthCredentials | { readonly bearer: string };

/** What is uploaded, for whom, and by which application. */
export interface Upload {
  /** A path; the file is read as it is sent. */
  readonly file: string;
  readonly message: string;
  readonly apiKey: string;
  readonly credentials: UserCredentials;
  /** The identity provider's address as the service lists it; with version 1 the service chooses it. */
  readonly provider: string;
}

export interface UploadOptions {
  /** In version 2 (the default) secrets stay here and a signature goes; in version 1 the secrets are sent. */
  readonly version?: 1 | 2;
  readonly format?: Format;
  readonly onProgress?: Progress;
  /** Ends the upload; unless given, six hours do. */
  readonly signal?: AbortSignal;
}

const longestUploadMs = 6 * 3600 * 1000;

/**
 * Uploads a photo or a video to the service at `service`, an address without a slash at its end such as `http://127.0.0.1:8080`.
 * @throws UploadRefused when the service does not take it, UnreadableResponse when it answers nonsense, TypeError when it cannot be
 * reached or a bearer token is given for version 1, the signal's reason, or the system's error when the file cannot be opened
 */
export async function uploadMedia(service: string, upload: Upload, options: UploadOptions = {}): Promise<MediaRecord> {
  const {
    version = 2,
    format = 'json',
    onProgress = () => {},
    signal = AbortSignal.timeout(longestUploadMs),
  } = options;
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

/** The two headers of version 2. */
export function echoHeaders({ provider, credentials }: Pick<Upload, 'provider' | 'credentials'>) {
  return {
    'X-Auth-Service-Provider': provider,
    'X-Verify-Credentials-Authorization': authorizationOf(provider, credentials),
  };
}

/** The value of the Authorization header that `provider` understands. */
export function authorizationOf(provider: string, credentials: UserCredentials): string {
  return 'bearer' in credentials ? `Bearer ${credentials.bearer}` : signedGet(provider, credentials);
}

function fields(version: 1 | 2, { apiKey, message, credentials }: Upload): Record<string, string> {
  const common = { key: apiKey, message };
  if (version === 2) return common;
  if ('bearer' in credentials) throw new TypeError('version 1 takes no bearer token');
  const { consumerKey, consumerSecret, token, tokenSecret } = credentials;
  return {
    ...common,
    consumer_token: consumerKey,
    consumer_secret: consumerSecret,
    oauth_token: token,
    oauth_secret: tokenSecret,
  };
}
