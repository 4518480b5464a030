import { randomFillSync } from 'node:crypto';

/** One call of the system's generator costs as much for 4 KiB as for 16 bytes. */
const POOL_BYTES = 4096;

const pool = Buffer.allocUnsafeSlow(POOL_BYTES);
let used = POOL_BYTES;

/** Returns cryptographically random bytes, each byte once. `length` is at most 4096. */
export function randomBytes(length: number): Buffer {
  const start = take(length);
  return Buffer.from(pool.subarray(start, start + length));
}

/** Returns random bytes as base64url without padding: for 16 bytes, 22 characters. */
export function randomText(length: number): string {
  const start = take(length);
  return pool.toString('base64url', start, start + length);
}

/** Returns where unused bytes of the pool begin. */
function take(length: number): number {
  if (used + length > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  used += length;
  return used - length;
}
