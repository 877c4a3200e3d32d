import { hash } from 'node:crypto';
import type { Secret } from '@echodrop/service/secret';

// Operators block the site's pages under this name.
const webUploadName = 'web-upload';

/** The accepted API keys, and the name of each application. */
export class ApiKeys {
  readonly #names = new Map<string, string>();

  /** `list`: comma-separated `key` or `name=key`. A key without a name gets one from its hash. `webUpload`: the key of the site's pages. */
  constructor(list: Secret, webUpload?: string) {
    for (const entry of list.reveal().split(',')) {
      const [, name, key] = /^(?:([\w.-]+)=)?(.+)$/.exec(entry.trim()) ?? [];
      if (key) this.#names.set(digest(key), name ?? `key-${digest(key).slice(0, 8)}`);
    }
    // This comes last, because API_KEYS may have the same key.
    if (webUpload !== undefined) this.#names.set(digest(webUpload), webUploadName);
  }

  /** The application's name; undefined for an unknown key. Looks up hashes, so that timing reveals nothing of the keys. */
  applicationOf(key: string): string | undefined {
    return this.#names.get(digest(key));
  }
}

const digest = (key: string) => hash('sha256', key);
