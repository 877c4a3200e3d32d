import { timingSafeEqual } from 'node:crypto';
import type { RotatedSecret } from '../env.ts';
import { hashesFor, type KeyedHash } from './keyed-hash.ts';

const tagBytes = 16;
// A seal has at most two tags, because a rotated secret has at most two values.
const maxSealLength = 2 * Math.ceil((tagBytes * 4) / 3) + 1;

/**
 * Seals text stored where others may write, such as Redis, with an HMAC of the text and its place. The seal of text that was forged,
 * changed or moved does not fit; a replay in the same place does. During a rotation a seal has a tag for each secret, and one that
 * fits is enough.
 */
export class Sealer {
  readonly #keys: readonly KeyedHash[];

  /** Each `purpose` has its own key, derived from `secret`. */
  constructor(secret: RotatedSecret, purpose: string) {
    this.#keys = hashesFor(secret, purpose);
  }

  /** The seal of `text`: printable characters without spaces. */
  seal(place: readonly string[], text: string): string {
    return this.#tags(place, text)
      .map((tag) => tag.toString('base64url'))
      .join('.');
  }

  isValid(seal: unknown, place: readonly string[], text: string): boolean {
    if (typeof seal !== 'string' || seal.length > maxSealLength) return false;
    const given = seal.split('.').map((tag) => Buffer.from(tag, 'base64url'));
    return this.#tags(place, text).some((tag) =>
      given.some((each) => each.length === tagBytes && timingSafeEqual(each, tag)),
    );
  }

  /** Prepends the seal to `text`. */
  wrap(place: readonly string[], text: string): string {
    return `${this.seal(place, text)} ${text}`;
  }

  /** The text given to `wrap`; undefined if the seal does not fit. */
  unwrap(place: readonly string[], wrapped: string): string | undefined {
    const end = wrapped.indexOf(' ');
    const text = wrapped.slice(end + 1);
    return this.isValid(wrapped.slice(0, Math.max(0, end)), place, text) ? text : undefined;
  }

  #tags(place: readonly string[], text: string): Buffer[] {
    const sealed = JSON.stringify(place) + text;
    return this.#keys.map((key) => key.digest(sealed).subarray(0, tagBytes));
  }
}
