import { ClientError } from '../contract/errors.js';

/** Most bytes per character in JSON: `\u0000` has six. */
const MAX_BYTES_PER_CHARACTER = 6;
/** Size of a request on the wire besides payload and name, in bytes, with a margin. */
const ENVELOPE_BYTES = 128;

const encoder = new TextEncoder();

/**
 * Checks that a request fits into one message: the daemon closes a connection that sends a much larger one, and rejects
 * slightly larger ones.
 * @throws ClientError PAYLOAD_TOO_LARGE
 */
export function checkSize(name: string, payload: Readonly<Record<string, unknown>>, maxBytes: number): void {
  const room = maxBytes - name.length - ENVELOPE_BYTES;
  if (characters(payload) * MAX_BYTES_PER_CHARACTER <= room) return;
  const bytes = encoder.encode(JSON.stringify(withoutBytes(payload))).length + attachedBytes(payload);
  if (bytes <= room) return;
  throw new ClientError(
    'PAYLOAD_TOO_LARGE',
    `${name} takes ${bytes} bytes, the daemon at most ${room} (max_message_bytes)`,
    {
      details: { bytes, max_bytes: room },
    },
  );
}

const withoutBytes = (payload: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(payload).map(([key, value]) => [key, ArrayBuffer.isView(value) ? PLACEHOLDER : value]),
  );

/** Placeholder of an attachment in the JSON. */
const PLACEHOLDER = { _placeholder: true, num: 0 };

const attachedBytes = (payload: Readonly<Record<string, unknown>>): number =>
  Object.values(payload).reduce<number>((sum, value) => sum + (ArrayBuffer.isView(value) ? value.byteLength : 0), 0);

/** Approximate number of characters in the JSON of a value. */
function characters(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 1;
  // Binary data is sent unchanged beside the JSON.
  if (ArrayBuffer.isView(value)) return Math.ceil(value.byteLength / MAX_BYTES_PER_CHARACTER);
  return Object.entries(value).reduce((sum, [key, entry]) => sum + key.length + 1 + characters(entry), 0);
}
