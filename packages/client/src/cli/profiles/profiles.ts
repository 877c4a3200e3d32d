import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { chmod, type FileHandle, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { UsageError } from '../command-context.ts';
import { onEnd } from '../on-end.ts';
import { lockFile } from './lock-file.ts';
import { configFolder, makeFolder } from './user-folders.ts';

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
  /** What the user confirmed before the sign-in. None for a token that the user gave. */
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
      /** Of ID tokens. */
      algorithms: z.optional(z.array(z.string())),
    }),
  ),
  refreshToken: z.optional(z.string()),
  /** ISO 8601. */
  expiresAt: z.optional(z.string()),
});

/** One signed-in user of one server. */
export type Profile = z.infer<typeof profileShape>;

/** The tokens of a profile, and what renews or revokes them. */
export type Tokens = Pick<Profile, 'token' | 'client' | 'refreshToken' | 'expiresAt'>;

/** The file of a profile holds no profile. */
export class DamagedProfile extends UsageError {}

export const defaultProfile = 'default';
// More than a profile needs.
const reservedBytes = 64 * 1024;

/** Reads a profile; undefined if no user is signed in. @throws DamagedProfile */
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
    throw new DamagedProfile(`${path} is damaged. Run \`echodrop login\` again.`);
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

interface ProfileDraft extends AsyncDisposable {
  /** Replaces the profile. */
  store(profile: Profile): Promise<void>;
}

/**
 * Opens a file that only this user can read, for a new version of a profile. Disposing removes it unless it was stored.
 * @throws Error if the folder is not writable
 */
export async function draftProfile(env: NodeJS.ProcessEnv, name: string): Promise<ProfileDraft> {
  const path = profilePath(env, name);
  const folder = configFolder(env);
  await makeFolder(folder);
  await chmod(folder, 0o700);
  const part = `${path}.${randomUUID()}`;
  const remove = onEnd(() => rmSync(part, { force: true }));
  try {
    const file = await openReserved(part);
    return {
      async store(profile) {
        const text = `${JSON.stringify(profile, undefined, 2)}\n`;
        await file.writeFile(text);
        await file.truncate(Buffer.byteLength(text));
        await file.close();
        await rename(part, path);
      },
      async [Symbol.asyncDispose]() {
        await file.close();
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

/** A new file that has its space on the disk, so that a full disk is noticed before a token is renewed. */
async function openReserved(path: string): Promise<FileHandle> {
  const file = await open(path, 'wx', 0o600);
  try {
    // At a position, so that `writeFile` begins at the start.
    const { bytesWritten } = await file.write(' '.repeat(reservedBytes), 0);
    if (bytesWritten < reservedBytes) throw new Error('no space left on device');
    return file;
  } catch (cause) {
    await file.close();
    throw new Error(`Cannot write to ${dirname(path)}.`, { cause });
  }
}

/**
 * Waits for the lock of a profile: one process at a time renews, replaces or ends it. A refresh token may be valid once, and a second use can end
 * the sign-in. What killed processes left, which may contain a token, is removed. @throws Error after two minutes
 */
export async function lockProfile(env: NodeJS.ProcessEnv, name: string): Promise<AsyncDisposable> {
  const path = profilePath(env, name);
  const lock = await lockFile(`${path}.lock`);
  // Without the lock, a draft may belong to a running renewal.
  if (lock.isHeld) await removeDrafts(path);
  return lock;
}

async function removeDrafts(path: string): Promise<void> {
  const folder = dirname(path);
  const isDraft = (file: string) =>
    file.startsWith(`${basename(path)}.`) && /\.json\.(lock\.)?[\da-f-]{36}$/.test(file);
  for (const file of (await readdir(folder)).filter(isDraft)) await rm(join(folder, file), { force: true });
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
