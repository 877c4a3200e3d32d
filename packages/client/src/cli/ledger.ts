import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MediaRecord } from '@echodrop/record';
import { readRecord } from '../read-response.ts';
import { recordToExactJson } from './show-record.ts';
import { stateFolder } from './user-folders.ts';

/**
 * What this user has uploaded from this machine: a file for each content key, with the record. The service remembers keys for 24 hours, the ledger
 * until the upload is removed by `rm`.
 */
export class Ledger {
  readonly #folder: string;

  constructor(env: NodeJS.ProcessEnv) {
    this.#folder = join(stateFolder(env), 'uploads');
  }

  /** The record of an earlier upload with this key. A damaged entry counts as none. */
  async find(key: string): Promise<MediaRecord | undefined> {
    return this.#read(`${key}.json`);
  }

  async add(key: string, record: MediaRecord): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const path = join(this.#folder, `${key}.json`);
    const part = `${path}.${randomUUID()}`;
    await writeFile(part, recordToExactJson(record), { mode: 0o600 });
    await rename(part, path);
  }

  /** Forgets uploads with these ids, so that they can be uploaded again. */
  async forget(ids: ReadonlySet<string>): Promise<void> {
    const names = await readdir(this.#folder).catch(() => []);
    for (const name of names.filter((each) => each.endsWith('.json'))) {
      const record = await this.#read(name);
      if (record && ids.has(record.id)) await rm(join(this.#folder, name), { force: true });
    }
  }

  async #read(name: string): Promise<MediaRecord | undefined> {
    const text = await readFile(join(this.#folder, name), 'utf8').catch(() => undefined);
    return text === undefined ? undefined : readRecord('json', text).catch(() => undefined);
  }
}
