import type { Redis } from 'ioredis';
import type { CacheKeys } from './cache-keys.ts';
import type { Proof } from './proof.ts';

/** VERDICT_REUSE: whose repeats of a proof are believed while its verdict lives: anybody's, those from the same client address, nobody's. */
export type Reuse = 'ttl' | 'retry' | 'off';

// Longer than any provider should believe a timestamp.
const rememberedSeconds = 24 * 3600;

/**
 * Who has used which signed header. It names no audience: whoever receives it could show it to us (docs/identity-providers.md).
 * Without the cache nothing is known, and every use is as good as the first.
 */
export class ProofUses {
  readonly #redis: Pick<Redis, 'get' | 'set' | 'del'>;
  readonly #keys: CacheKeys;
  readonly #reuse: Reuse;

  constructor(redis: Pick<Redis, 'get' | 'set' | 'del'>, keys: CacheKeys, reuse: Reuse) {
    this.#redis = redis;
    this.#keys = keys;
    this.#reuse = reuse;
  }

  /**
   * `first`: nobody has used it in the last day, or that does not matter; `repeat`: one that is believed; `replay`: one that is not.
   * `signed` is what makes a header that one (`signedOnce`); where a header does not tell, nobody can say that it is no replay.
   */
  async use(signed: Proof | undefined, clientAddress: string): Promise<'first' | 'repeat' | 'replay'> {
    if (this.#reuse === 'ttl') return 'first';
    if (!signed) return 'replay';
    const users = this.#keys.of('use', ...signed, clientAddress);
    const taken: string[] = [];
    try {
      for (const [index, key] of this.#keys.of('use', ...signed).entries()) {
        const user = users[index] ?? '';
        if ((await this.#redis.set(key, user, 'EX', rememberedSeconds, 'NX')) !== null) taken.push(key);
        else if (this.#reuse === 'retry' && (await this.#redis.get(key))?.startsWith(user)) return 'repeat';
        else {
          await Promise.all(taken.map((each) => this.#redis.del(each)));
          return 'replay';
        }
      }
    } catch {
      // As good as the first.
    }
    return 'first';
  }

  /** The use verified somebody: nobody else's late `giveBack` takes it away. */
  async confirm(signed: Proof | undefined, clientAddress: string): Promise<void> {
    await this.#each(signed, clientAddress, (key, user) =>
      this.#redis.set(key, `${user} verified`, 'EX', rememberedSeconds),
    );
  }

  /** A first use that verified nobody was none. */
  async giveBack(signed: Proof | undefined, clientAddress: string): Promise<void> {
    await this.#each(signed, clientAddress, async (key, user) => {
      if ((await this.#redis.get(key)) === user) await this.#redis.del(key);
    });
  }

  /** Between which uses a verdict is shared: those that give the same answer here. Undefined: every one asks for its own. */
  sharedBy(proof: Proof, clientAddress: string): Proof | undefined {
    if (this.#reuse === 'off') return undefined;
    return this.#reuse === 'ttl' ? proof : [...proof, clientAddress];
  }

  async #each(signed: Proof | undefined, clientAddress: string, act: (key: string, user: string) => Promise<unknown>) {
    if (this.#reuse === 'ttl' || !signed) return;
    const users = this.#keys.of('use', ...signed, clientAddress);
    const acts = this.#keys.of('use', ...signed).map((key, index) => act(key, users[index] ?? ''));
    await Promise.all(acts).catch(() => {});
  }
}
