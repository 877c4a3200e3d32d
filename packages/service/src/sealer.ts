import { hkdfSync, timingSafeEqual } from 'node:crypto';
import type { RotatedSecret } from './env.ts';
import { KeyedHash } from './keyed-hash.ts';

const tagBytes = 16;
// Two tags, as a rotated secret has two values at most.
const longestSeal = 2 * Math.ceil((tagBytes * 4) / 3) + 1;

/**
 * Seals text that lies where others may write, such as Redis: with a keyed hash of the text and of its place. Text that somebody else
 * wrote, changed or moved to another place has no seal that fits. A replay in the same place fits. While a secret is exchanged a seal has
 * a tag for each value, and one that fits is enough: processes that share a value understand each other.
 */
export class Sealer {
  readonly #keys: readonly KeyedHash[];

  /** A seal for one `purpose` fits no other: each has a key of its own, derived from `secret`. */
  constructor(secret: RotatedSecret, purpose: string) {
    this.#keys = secret.flatMap((each) =>
      each ? [new KeyedHash(Buffer.from(hkdfSync('sha256', each.reveal(), '', `echodrop ${purpose}`, 32)))] : [],
    );
  }

  /** A seal in printable characters without spaces. */
  seal(place: readonly string[], text: string): string {
    return this.#tags(place, text)
      .map((tag) => tag.toString('base64url'))
      .join('.');
  }

  fits(seal: unknown, place: readonly string[], text: string): boolean {
    if (typeof seal !== 'string' || seal.length > longestSeal) return false;
    const given = seal.split('.').map((tag) => Buffer.from(tag, 'base64url'));
    return this.#tags(place, text).some((tag) =>
      given.some((each) => each.length === tagBytes && timingSafeEqual(each, tag)),
    );
  }

  /** `text` behind its seal. */
  wrap(place: readonly string[], text: string): string {
    return `${this.seal(place, text)} ${text}`;
  }

  /** What `wrap` was given; undefined where the seal does not fit. */
  unwrap(place: readonly string[], wrapped: string): string | undefined {
    const end = wrapped.indexOf(' ');
    const text = wrapped.slice(end + 1);
    return this.fits(wrapped.slice(0, Math.max(0, end)), place, text) ? text : undefined;
  }

  #tags(place: readonly string[], text: string): Buffer[] {
    const sealed = JSON.stringify(place) + text;
    return this.#keys.map((key) => key.digest(sealed).subarray(0, tagBytes));
  }
}
