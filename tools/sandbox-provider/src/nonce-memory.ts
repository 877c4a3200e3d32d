import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

const remembered = 100_000;

/** Which nonces were used within the time in which their timestamps are believed; the oldest are forgotten beyond 100,000. */
export class NonceMemory {
  readonly #used: LRUCache<string, true>;

  constructor(lifetimeMs: number) {
    this.#used = new LRUCache({ max: remembered, ttl: lifetimeMs });
  }

  /** Uses up a nonce, which is one for its consumer, token and timestamp (RFC 5849, 3.3); false when it was used before. */
  use(parts: { consumer: string; token: string; timestamp: string; nonce: string }): boolean {
    const { consumer, token, timestamp, nonce } = parts;
    const id = createHash('sha256')
      .update(JSON.stringify([consumer, token, timestamp, nonce]))
      .digest('base64');
    if (this.#used.has(id)) return false;
    this.#used.set(id, true);
    return true;
  }
}
