import { chmod, mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { UsageError } from '../command-context.ts';
import { lockFile } from './lock-file.ts';
import { replaceFile } from './replace-file.ts';
import { configFolder } from './user-folders.ts';

const profileShape = z.object({
  site: z.string(),
  /** The upload service. */
  service: z.url({ protocol: /^https?$/ }),
  apiKey: z.optional(z.string()),
  provider: z.string(),
  providerName: z.string(),
  token: z.string(),
  /** The user's name and id at the provider. */
  name: z.string(),
  subject: z.string(),
  /** What the user confirmed before the sign-in. A token that the user gave has no confirmation. */
  authorization: z.optional(
    z.object({ issuer: z.string(), clientId: z.optional(z.string()), scopes: z.array(z.string()) }),
  ),
  /** What ends or renews the token, if the provider has it. */
  client: z.optional(
    z.object({
      id: z.string(),
      secret: z.optional(z.string()),
      issuer: z.string(),
      tokenEndpoint: z.optional(z.string()),
      revocationEndpoint: z.optional(z.string()),
      /** The algorithms that sign ID tokens. */
      algorithms: z.optional(z.array(z.string())),
    }),
  ),
  refreshToken: z.optional(z.string()),
  /** When the token ends, in ISO 8601. */
  expiresAt: z.optional(z.string()),
});

/** One signed-in user of one server. */
export type Profile = z.infer<typeof profileShape>;

/** The tokens of a profile, and what renews or revokes them. */
export type Tokens = Pick<Profile, 'token' | 'client' | 'refreshToken' | 'expiresAt'>;

export const defaultProfile = 'default';

/** Reads a profile; undefined if no user is signed in. @throws UsageError for a damaged one */
export async function readProfile(env: NodeJS.ProcessEnv, name: string): Promise<Profile | undefined> {
  const path = profilePath(env, name);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new Error(`Cannot read ${path}. Move it elsewhere, or change its permissions.`, { cause: error });
  });
  if (text === undefined) return undefined;
  try {
    return profileShape.parse(JSON.parse(text));
  } catch {
    throw new UsageError(`${path} is damaged. Run \`echodrop login\` again.`);
  }
}

/** Refuses a profile that other users could have read, as ssh does with keys. @throws UsageError */
export async function requirePrivate(env: NodeJS.ProcessEnv, name: string): Promise<void> {
  const path = profilePath(env, name);
  const { mode, uid } = await stat(path);
  // Windows has no such modes. Root can open a file of another user.
  if (process.platform === 'win32' || (!(mode & 0o077) && uid === process.getuid?.())) return;
  throw new UsageError(
    `Other users of this machine can read or change ${path}. If you trust them all, run \`chmod 600\` on it; otherwise run ` +
      '`echodrop logout`, which revokes the token, and sign in again.',
  );
}

/** Replaces a profile by a file that only this user can read. The caller holds its lock. */
export async function storeProfile(env: NodeJS.ProcessEnv, name: string, profile: Profile): Promise<void> {
  await replaceFile(profilePath(env, name), `${JSON.stringify(profile, undefined, 2)}\n`);
}

/**
 * Waits for the lock of a profile: one process at a time renews, replaces or ends it. A refresh token may be valid once, and a second use can end
 * the sign-in. Drafts of killed processes, which may contain a token, are removed.
 * @throws Error after two minutes, or the system's error if the folder is not writable
 */
export async function lockProfile(env: NodeJS.ProcessEnv, name: string): Promise<AsyncDisposable> {
  const path = profilePath(env, name);
  const folder = configFolder(env);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  const lock = await lockFile(`${path}.lock`);
  const isDraft = (file: string) => file.startsWith(`${name}.json.`) && /\.[\da-f-]{36}$/.test(file);
  for (const file of (await readdir(folder)).filter(isDraft)) await rm(join(folder, file), { force: true });
  return lock;
}

export async function removeProfile(env: NodeJS.ProcessEnv, name: string): Promise<void> {
  await rm(profilePath(env, name), { force: true });
}

/** @throws UsageError for a name that is no file name */
function profilePath(env: NodeJS.ProcessEnv, name: string): string {
  if (!/^\w[\w.-]{0,63}$/.test(name))
    throw new UsageError(
      'A profile name must begin with a letter, digit or "_", and may continue with "-" and ".", up to 64 characters: ' +
        `${JSON.stringify(name)}.`,
    );
  return join(configFolder(env), `${name}.json`);
}
