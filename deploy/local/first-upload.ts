import {
  hasSandboxUser,
  localApiKey,
  localService,
  sandboxBearer,
  sandboxProvider,
} from '@echodrop/client/local-system';
import { EchodropClient, RequestRefused } from '@echodrop/client/node';
import { shellWord } from '@echodrop/client/shell-word';
import { recordToJson } from '@echodrop/record';

export const sample = 'deploy/sample.jpg';
const message = 'Hello from Echodrop';
const uploadMs = 60_000;

/** The target of the sample, which the sandbox's user uploads. */
export interface Sample {
  /** The address of the upload service, with its base path and without a trailing slash. */
  readonly service: string;
  readonly provider: string;
  readonly apiKey: string;
}

/** The target of the sample; undefined if no user is known. */
export function sampleTarget(env: NodeJS.ProcessEnv): Sample | undefined {
  if (!hasSandboxUser(env)) return undefined;
  return { service: localService(env), provider: sandboxProvider(env), apiKey: localApiKey(env) };
}

/** Uploads the sample. @returns the record, or a refusal that follows from the settings @throws RequestRefused for 401 and 5xx; errors of EchodropClient */
export async function uploadSample(target: Sample, signal: AbortSignal): Promise<{ response: string; page?: string }> {
  const client = new EchodropClient({ ...target, credentials: { bearer: sandboxBearer } });
  try {
    const record = await client.upload(sample, {
      message,
      signal: AbortSignal.any([signal, AbortSignal.timeout(uploadMs)]),
    });
    return { response: recordToJson(record), page: record.url };
  } catch (error) {
    if (!(error instanceof RequestRefused) || error.status === 401 || error.status >= 500) throw error;
    return { response: `${error.status} ${error.reason}: ${error.message}` };
  }
}

/** The same upload as a command for a POSIX shell in the project's folder. */
export function sampleAsCurl({ service, provider, apiKey }: Sample): string {
  return [
    'curl',
    `-H ${shellWord(`X-Auth-Service-Provider: ${provider}`)}`,
    `-H ${shellWord(`X-Verify-Credentials-Authorization: Bearer ${sandboxBearer}`)}`,
    `-F ${shellWord(`key=${apiKey}`)} -F ${shellWord(`message=${message}`)} -F media=@${sample}`,
    shellWord(`${service}/2/upload.json`),
  ].join(' ');
}
