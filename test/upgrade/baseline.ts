import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { patientSettings } from '@echodrop/testkit/patience';
import { type ServiceName, type Stack, startStack } from '@echodrop/testkit/start-stack';
import { upload } from '@echodrop/testkit/upload';
import type { RedisEntry } from './redis-entries.ts';

/** What a release wrote and accepted. Its folder, named like the release, never changes after the release. */
export interface Baseline {
  /** Some seconds after its jobs were added, in ISO 8601. */
  readonly recordedAt: string;
  /** Valid values of all settings, by service. */
  readonly settings: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** In the order of their publishing. The last has no renditions. */
  readonly uploads: readonly KeptUpload[];
  /** The id of a deleted upload. */
  readonly deleted: string;
  /** The queue Redis before any rendition was made. */
  readonly redis: readonly RedisEntry[];
}

interface KeptUpload extends UploadForm {
  readonly mediaKey: string;
  /** The response, in JSON. */
  readonly record: { readonly id: string };
}

export interface UploadForm {
  readonly message: string;
  readonly alt: string;
  /** Its value of `Idempotency-Key`. */
  readonly key: string;
}

const folder = import.meta.dirname;

/** The folder with the baseline of a release. */
export const folderOf = (release: string) => join(folder, release);

/** The releases that have a baseline. */
export async function releases(): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}

export async function readBaseline(release: string): Promise<Baseline> {
  return JSON.parse(await readFile(join(folderOf(release), 'baseline.json'), 'utf8'));
}

// Baselines contain or depend on these, so they never change.
const path = '/api/v1/accounts/verify_credentials';
const apiKey = 'upgrade-key';
export const provider = `https://social.example${path}`;
/** Names the same user at another provider. The user is blocked there. */
export const blockedProvider = `https://blocked.example${path}`;
export const subject = '12345';
export const secrets = {
  VERIFIER_SECRET: 'a verifier secret of baselines',
  CACHE_KEY_SECRET: 'a cache key secret of baselines',
  USER_ID_SECRET: 'a user id secret of baselines',
  PROBE_QUEUE_SECRET: 'a probe queue secret of baselines',
  RENDITION_QUEUE_SECRET: 'a rendition queue secret of baselines',
};

/** Starts Redis and the sandbox provider; other services join. */
export const startProvider = () => startStack({ services: ['sandbox-provider'] });

/** Starts services with the secrets and providers of all baselines. The clock of the rendition-worker is `behindMs` behind. */
export function joinServices(beside: Stack, services: readonly ServiceName[], behindMs = 0): Promise<Stack> {
  const upstream = beside.bearerProvider;
  const settings = {
    ...patientSettings,
    ...secrets,
    API_KEYS: `upgrade=${apiKey}`,
    PUBLIC_SITE_URL: 'https://media.example',
    IDENTITY_PROVIDERS: [provider, blockedProvider].map((each) => `mastodon ${each}=${upstream}`).join(),
  };
  const clock = `class Shifted extends Date {
    constructor(...given) { super(...(given.length > 0 ? given : [Shifted.now()])) }
    static now() { return super.now() - ${behindMs} }
  }
  globalThis.Date = Shifted`;
  const worker = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(clock)}` };
  return startStack({ services, beside, settings, of: { 'rendition-worker': worker } });
}

/** Headers that identify the user of the baselines. */
export function userHeaders(at = provider): Record<string, string> {
  return { 'X-Auth-Service-Provider': at, 'X-Verify-Credentials-Authorization': 'Bearer sandbox-bearer' };
}

export function send(stack: Stack, { message, alt, key }: UploadForm, media: Buffer, at = provider) {
  const parts = Object.entries({ key: apiKey, message, alt }).map(([name, content]) => ({ name, content }));
  return upload(stack, {
    parts: [...parts, { name: 'media', filename: 'media', content: media }],
    headers: { ...userHeaders(at), 'Idempotency-Key': `"${key}"` },
  });
}
