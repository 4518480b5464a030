import { ClientError } from './errors.js';

/** Most bytes that a character takes in JSON: `\u0000`. */
const MAX_BYTES_PER_CHARACTER = 6;
/** What a request takes on the wire beside its payload and its name, with room to spare. */
const ENVELOPE_BYTES = 128;

const encoder = new TextEncoder();

/**
 * Sees that a request fits into one message: the daemon ends a connection that brings a larger one.
 * @throws ClientError PAYLOAD_TOO_LARGE
 */
export function checkSize(name: string, payload: Readonly<Record<string, unknown>>, maxBytes: number): void {
  const room = maxBytes - name.length - ENVELOPE_BYTES;
  if (characters(payload) * MAX_BYTES_PER_CHARACTER <= room) return;
  const bytes = encoder.encode(JSON.stringify(payload)).length;
  if (bytes <= room) return;
  throw new ClientError(
    'PAYLOAD_TOO_LARGE',
    `${name} takes ${bytes} bytes, the daemon at most ${room} (max_message_bytes)`,
    {
      details: { bytes, max_bytes: room },
    },
  );
}

/** About how many characters the JSON of a value has. */
function characters(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 1;
  return Object.entries(value).reduce((sum, [key, entry]) => sum + key.length + 1 + characters(entry), 0);
}
