import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MediaRecord } from '@echodrop/record';
import { readRecord } from '../read-response.ts';
import { onEnd } from './on-end.ts';
import { makeFolder, stateFolder } from './profiles/user-folders.ts';
import { recordToExactJson } from './show-record.ts';

/** What this user has uploaded from this machine: a file for each content key, with the record. The service remembers keys for 24 hours only. */
export class Ledger {
  readonly #folder: string;

  constructor(env: NodeJS.ProcessEnv) {
    this.#folder = join(stateFolder(env), 'uploads');
  }

  /** The record of an earlier upload with this key. A damaged entry counts as none. */
  async find(key: string): Promise<MediaRecord | undefined> {
    const text = await readFile(this.#pathOf(key), 'utf8').catch(() => undefined);
    return text === undefined ? undefined : readRecord('json', text).catch(() => undefined);
  }

  async add(key: string, record: MediaRecord): Promise<void> {
    await makeFolder(this.#folder);
    const path = this.#pathOf(key);
    const part = `${path}.${randomUUID()}`;
    const remove = onEnd(() => rmSync(part, { force: true }));
    try {
      await writeFile(part, recordToExactJson(record), { mode: 0o600 });
      await rename(part, path);
    } finally {
      remove();
    }
  }

  #pathOf(key: string): string {
    return join(this.#folder, `${key}.json`);
  }
}
