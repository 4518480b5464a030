import type { OutputStreamName } from '../../../../client/index.js';
import type { DaemonConnection } from '../../../state/connection.js';

/** Bytes of one read: the most that the daemon gives. */
const PIECE_BYTES = 1024 * 1024;

/** What is downloaded. */
export interface Download {
  readonly commandId: string;
  readonly stream: OutputStreamName;
  readonly signal: AbortSignal;
  /** How far it is, in bytes. */
  readonly onProgress: (done: number, size: number) => void;
}

/** Reads a stream to what was its end at the start, piece by piece. Rejects with a ClientError, or the signal's reason. */
export async function readStream(
  connection: Pick<DaemonConnection, 'request'>,
  { commandId, stream, signal, onProgress }: Download,
): Promise<Blob> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let offset = 0;
  let end = Infinity;
  while (offset < end) {
    const request = { command_id: commandId, stream, offset, length: Math.min(PIECE_BYTES, end - offset) };
    const { data, size, eof } = await connection.request('read_output', request, { signal });
    end = Math.min(end, size);
    // A copy: what arrives may be a part of a larger buffer.
    pieces.push(new Uint8Array(data));
    offset += data.length;
    onProgress(offset, end);
    if (eof || data.length === 0) break;
  }
  return new Blob(pieces, { type: 'application/octet-stream' });
}
