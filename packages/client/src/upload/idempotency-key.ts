const maxLength = 255;

/** @throws TypeError for an invalid key */
export function requireIdempotencyKey(key: string): void {
  if (key.length > maxLength || !/^[\x20-\x7e]+$/.test(key))
    throw new TypeError(`The idempotency key must be 1 to ${maxLength} printable ASCII characters.`);
}

/** The value of `Idempotency-Key` for a valid key: a quoted string. */
export function idempotencyHeader(key: string): string {
  return `"${key.replace(/["\\]/g, '\\$&')}"`;
}

/** A new key. Not `randomUUID`, which pages on plain HTTP do not have. */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
