import { type Cast, OWN_KEY, parseCast } from '../../../core/recording.js';
import type { DaemonConnection } from '../../state/connection.js';
import { whyNotPlayed } from './playable.js';
import type { Recording } from './recording-list.js';

/** Bytes per request. */
const PIECE_BYTES = 512 * 1024;

/** A recording that was read. */
export interface ReadRecording {
  readonly file: Blob;
  readonly cast: Cast;
  readonly info: Recording;
}

/**
 * Reads a whole recording, as far as it is written.
 * @param onProgress called with the part that was read, from 0 to 1
 * @throws ClientError RECORDING_NOT_FOUND; Error for a file that cannot be played
 */
export async function readRecording(
  connection: Pick<DaemonConnection, 'request'>,
  id: string,
  onProgress: (part: number) => void,
): Promise<ReadRecording> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for (let offset = 0, size = 1; offset < size;) {
    const answer = await connection.request('read_recording', { recording_id: id, offset, length: PIECE_BYTES });
    const whyNot = whyNotPlayed(id, answer.size);
    if (whyNot !== undefined) throw new Error(whyNot);
    if (answer.data.length === 0) break;
    pieces.push(new Uint8Array(answer.data));
    offset += answer.data.length;
    size = answer.size;
    onProgress(offset / size);
  }
  const file = new Blob(pieces, { type: 'application/x-asciicast' });
  const cast = parseCast(await file.text());
  const sessionId = cast.header[OWN_KEY]?.session_id;
  const { recordings } = await connection.request('list_recordings', { session_id: sessionId });
  const info = recordings.find(({ recording_id: found }) => found === id);
  if (!info) throw new Error('it was deleted meanwhile');
  return { file, cast, info };
}
