import { randomFillSync } from 'node:crypto';

// A call of the generator costs more than the bytes that it makes.
const pool = Buffer.allocUnsafeSlow(4096);
let used = pool.length;

/** Up to 4096 random bytes from the system's generator, as hexadecimal digits. */
export function randomHex(bytes: number): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.toString('hex', used - bytes, used);
}
