import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { chmod, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import * as z from 'zod/mini';
import { UsageError } from './command-context.ts';
import { onEnd } from './on-end.ts';
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

/** The file of a profile holds no profile. */
export class DamagedProfile extends UsageError {}

export const defaultProfile = 'default';
// Longer than a renewal or a revocation takes.
const maxLockMs = 60_000;

/** Reads a profile; undefined if no user is signed in. @throws DamagedProfile */
export async function readProfile(env: NodeJS.ProcessEnv, name: string): Promise<Profile | undefined> {
  const path = profilePath(env, name);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
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
  const { mode } = await stat(path);
  // Windows has no such modes.
  if (process.platform === 'win32' || !(mode & 0o077)) return;
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
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  const part = `${path}.${randomUUID()}`;
  const remove = onEnd(() => rmSync(part, { force: true }));
  try {
    const file = await open(part, 'wx', 0o600);
    return {
      async store(profile) {
        await file.writeFile(`${JSON.stringify(profile, undefined, 2)}\n`);
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

/**
 * Waits for the lock of a profile: one process at a time renews, replaces or ends it. A refresh token may be valid once, and a second use can end
 * the sign-in. @throws Error after two minutes
 */
export async function lockProfile(env: NodeJS.ProcessEnv, name: string): Promise<AsyncDisposable> {
  const path = `${profilePath(env, name)}.lock`;
  for (const end = Date.now() + 2 * maxLockMs; Date.now() < end; await setTimeout(100)) {
    try {
      await (await open(path, 'wx', 0o600)).close();
      const remove = onEnd(() => rmSync(path, { force: true }));
      return {
        async [Symbol.asyncDispose]() {
          remove();
        },
      };
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Without the folder there is no profile.
      if (code === 'ENOENT') return { async [Symbol.asyncDispose]() {} };
      if (code !== 'EEXIST') throw error;
    }
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
    // Of a command that was killed. Its process id would say little: another process, container or host may have the same one.
    if (Math.abs(Date.now() - mtimeMs) > maxLockMs) await rm(path, { force: true });
  }
  throw new Error(`Another command is using this sign-in. If none runs, delete ${path}.`);
}

export async function removeProfile(env: NodeJS.ProcessEnv, name: string): Promise<void> {
  await rm(profilePath(env, name), { force: true });
}

/** @throws UsageError for a name that is no file name */
function profilePath(env: NodeJS.ProcessEnv, name: string): string {
  if (!/^\w[\w.-]{0,63}$/.test(name))
    throw new UsageError('A profile name may contain only letters, digits, "-", "_" and ".".');
  return join(configFolder(env), `${name}.json`);
}
