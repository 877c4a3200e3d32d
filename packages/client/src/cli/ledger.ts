import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { MediaRecord } from '@echodrop/record';
import { readRecord } from '../read-response.ts';
import { replaceFile } from './profiles/replace-file.ts';
import { stateFolder } from './profiles/user-folders.ts';
import { recordToExactJson } from './show-record.ts';

/**
 * What this user has uploaded from this machine: a file for each content key, with the record, or with the id of an upload that is not finished.
 * The service remembers keys for 24 hours only.
 */
export class Ledger {
  readonly #folder: string;

  constructor(env: NodeJS.ProcessEnv) {
    this.#folder = join(stateFolder(env), 'uploads');
  }

  /** The record of an earlier upload with this key. A damaged entry counts as none. */
  async find(key: string): Promise<MediaRecord | undefined> {
    const text = await this.#read(`${key}.json`);
    return text === undefined ? undefined : readRecord('json', text).catch(() => undefined);
  }

  /** Also forgets the unfinished upload. */
  async add(key: string, record: MediaRecord): Promise<void> {
    await this.#write(`${key}.json`, recordToExactJson(record));
    await rm(join(this.#folder, `${key}.unfinished`), { force: true });
  }

  /** The id of an unfinished upload with this key. */
  async findUnfinished(key: string): Promise<string | undefined> {
    const id = await this.#read(`${key}.unfinished`);
    return id && /^[\w-]+$/.test(id) ? id : undefined;
  }

  async addUnfinished(key: string, id: string): Promise<void> {
    await this.#write(`${key}.unfinished`, id);
  }

  async #read(name: string): Promise<string | undefined> {
    return readFile(join(this.#folder, name), 'utf8').catch(() => undefined);
  }

  async #write(name: string, text: string): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await replaceFile(join(this.#folder, name), text);
  }
}
