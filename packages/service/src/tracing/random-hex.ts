import { randomFillSync } from 'node:crypto';

// A call of the generator costs more than most of the bytes that it gives.
const pool = Buffer.allocUnsafeSlow(4096);
let used = pool.length;

/** Random bytes of the system's generator, for keys and ids, as hexadecimal digits: twice as many as `bytes`, which are 4096 at most. */
export function randomHex(bytes: number): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.toString('hex', used - bytes, used);
}
