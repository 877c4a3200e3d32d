const maxLength = 255;

/** The value of `Idempotency-Key` for `key`: a quoted string. @throws TypeError for an invalid key */
export function idempotencyHeader(key: string): string {
  if (key.length > maxLength || !/^[\x20-\x7e]+$/.test(key))
    throw new TypeError(`The idempotency key must be 1 to ${maxLength} printable ASCII characters.`);
  return `"${key.replace(/["\\]/g, '\\$&')}"`;
}

/** A new key. Not `randomUUID`, which pages on plain HTTP do not have. */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
