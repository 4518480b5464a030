import { type Cast, parseCast } from '../../../src/core/recording.js';
import type { WireClient } from '../../support/wire.js';

/** Reads a whole recording, in small pieces. */
export async function readRecording(
  client: WireClient,
  id: string,
): Promise<{ readonly text: string; readonly cast: Cast }> {
  const pieces: Buffer[] = [];
  for (let offset = 0; ;) {
    const answer = await client.request('read_recording', { recording_id: id, offset, length: 1000 });
    if (answer.error) throw new Error(`${answer.error.code}: ${answer.error.message}`);
    pieces.push(Buffer.from(answer.data));
    offset += answer.data.length;
    if (offset >= answer.size) break;
  }
  const text = Buffer.concat(pieces).toString();
  return { text, cast: parseCast(text) };
}

/** The data of all events of a kind, joined. */
export const dataOf = ({ events }: Cast, kind: string): string =>
  events.flatMap(([, code, data]) => (code === kind ? [data] : [])).join('');
