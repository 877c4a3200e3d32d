import { hash } from 'node:crypto';
import type { Secret } from '@echodrop/service/secret';

/** The API keys that are let in, and what the operator calls each application. */
export class ApiKeys {
  readonly #names = new Map<string, string>();

  /** `list`: comma-separated `key` or `name=key`. A key without a name is called after its hash. */
  constructor(list: Secret) {
    for (const entry of list
      .reveal()
      .split(',')
      .map((each) => each.trim())
      .filter(Boolean)) {
      const [, name, key] = /^(?:([\w.-]+)=)?(.+)$/.exec(entry) ?? [];
      if (key) this.#names.set(digest(key), name ?? `key-${digest(key).slice(0, 8)}`);
    }
  }

  /** The application's name; undefined for an unknown key. Hashes are looked up, so that timing tells nothing of the keys. */
  applicationOf(key: string): string | undefined {
    return this.#names.get(digest(key));
  }
}

function digest(key: string): string {
  return hash('sha256', key);
}
