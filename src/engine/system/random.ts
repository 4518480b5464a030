import { randomFillSync } from 'node:crypto';

/** One call of the system's generator costs as much for 4 KiB as for 16 bytes. */
const POOL_BYTES = 4096;

const pool = Buffer.allocUnsafeSlow(POOL_BYTES);
let used = POOL_BYTES;

/** Returns cryptographically random bytes, each byte once. `length` is at most 4096. */
export function randomBytes(length: number): Buffer {
  if (used + length > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  used += length;
  return Buffer.from(pool.subarray(used - length, used));
}
