import type { AdapterClient } from '../../client/index.js';

/** Bytes per request: below any message limit. */
const PIECE_BYTES = 256 * 1024;

/** Reads a whole recording, as far as it is written. @throws ClientError RECORDING_NOT_FOUND */
export async function downloadRecording(client: AdapterClient, id: string): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for (let offset = 0; ;) {
    const { data, size } = await client.request('read_recording', { recording_id: id, offset, length: PIECE_BYTES });
    pieces.push(data);
    offset += data.length;
    if (data.length === 0 || offset >= size) return Buffer.concat(pieces);
  }
}
