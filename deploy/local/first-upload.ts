import { type Upload, uploadMedia } from '@echodrop/client/client';
import {
  isSandboxMisbehaving,
  localApiKey,
  localCredentials,
  localService,
  sandboxCredentials,
  sandboxProvider,
} from '@echodrop/client/local-system';
import { UploadRefused } from '@echodrop/client/read-response';
import { recordToJson } from '@echodrop/record';

const sample = 'deploy/sample.jpg';
const message = 'Hello from Echodrop';
const withinMs = 60_000;

/** Where the sample goes, and as whom: the sandbox's user. */
export interface Sample {
  /** The service's address with its base path, without a slash at its end. */
  readonly service: string;
  readonly provider: string;
  readonly apiKey: string;
}

/** Where a sample can be sent; undefined if no user is known or the sandbox has a behaviour set. */
export function sampleTarget(env: NodeJS.ProcessEnv): Sample | undefined {
  if (!localCredentials(env) || isSandboxMisbehaving(env)) return undefined;
  return { service: localService(env), provider: sandboxProvider(env), apiKey: localApiKey(env) };
}

/**
 * Uploads the sample through the real path and gives what the service says: the record and its page, or a refusal where the
 * settings are such that it must (the media too large, say).
 * @throws UploadRefused when the user is not verified or the service is not able, and what uploadMedia throws
 */
export async function uploadSample(to: Sample, signal: AbortSignal): Promise<{ answer: string; page?: string }> {
  const upload: Upload = { file: sample, message, credentials: sandboxCredentials, ...to };
  try {
    const record = await uploadMedia(to.service, upload, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(withinMs)]),
    });
    return { answer: recordToJson(record), page: record.url };
  } catch (error) {
    if (!(error instanceof UploadRefused) || error.status === 401 || error.status >= 500) throw error;
    return { answer: `${error.status} ${error.reason}: ${error.message}` };
  }
}

/** The same upload as a command for a POSIX shell in the project's folder; it signs each time it runs. */
export function sampleAsCurl({ service, provider, apiKey }: Sample): string {
  const sign = provider === sandboxProvider({}) ? 'sign' : `sign -- --provider ${quoted(provider)}`;
  return [
    'curl',
    `-H "X-Verify-Credentials-Authorization: $(npm run --silent ${sign})"`,
    `-H ${quoted(`X-Auth-Service-Provider: ${provider}`)}`,
    `-F ${quoted(`key=${apiKey}`)} -F ${quoted(`message=${message}`)} -F media=@${sample}`,
    quoted(`${service}/2/upload.json`),
  ].join(' ');
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
