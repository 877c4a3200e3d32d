import { readFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';

/** The address of the queue Redis of the overlay `ha`. */
export const queueRedisOfHa = 'redis+sentinel://queue-0:26379,queue-1:26379,queue-2:26379/queue';

/** The secrets of `deploy/make-secrets` in a temporary folder. Disposing removes it. */
export interface MadeSecrets extends AsyncDisposable {
  readonly folder: string;
  /** Reads a secret. */
  read(name: string): string;
  /** Runs `make-secrets` again. */
  makeAgain(): Promise<void>;
}

/** `env` adds to the variables of `make-secrets`. */
export async function makeSecrets(env: Record<string, string> = {}): Promise<MadeSecrets> {
  const { path: folder, ...held } = await mkdtempDisposable(join(tmpdir(), 'echodrop-secrets-'));
  const makeAgain = async () => {
    await execa(join(import.meta.dirname, 'make-secrets'), { env: { ...env, SECRETS_DIR: folder } });
  };
  await makeAgain();
  return {
    folder,
    read: (name) => readFileSync(join(folder, name), 'utf8').trim(),
    makeAgain,
    [Symbol.asyncDispose]: () => held.remove(),
  };
}
