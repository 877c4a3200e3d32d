/** The value of `Idempotency-Key` for a valid key: a quoted string. */
export function idempotencyHeader(key: string): string {
  return `"${key.replace(/["\\]/g, '\\$&')}"`;
}

/** A new key. Not `randomUUID`, which pages on plain HTTP do not have. */
export function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
