import type { AttachOptions } from './contract/options.js';
import type { ClientLink } from './link.js';
import { ClientSession } from './session.js';

/** Follows an existing session: see `AdapterClient.attachSession`. */
export async function attachSession(link: ClientLink, id: string, options: AttachOptions): Promise<ClientSession> {
  const info = await link.request('get_session', { session_id: id });
  const { shell, working_directory: workingDirectory, next_seq: newest } = info;
  const fromSeq = options.fromSeq === undefined ? undefined : Math.min(options.fromSeq, newest);
  const { maxBytesPerSecond } = options;
  const session = new ClientSession(link, { id, shell, workingDirectory, nextSeq: fromSeq, maxBytesPerSecond });
  try {
    const request = { session_id: id, from_seq: fromSeq, max_bytes_per_second: maxBytesPerSecond };
    const { next_seq, gap } = await link.request('attach_session', request);
    if (gap) link.router.noteGap(id, gap.to_seq);
    if (link.router.session(id)?.sequence.next === undefined) link.router.noteGap(id, next_seq - 1);
    return session;
  } catch (error) {
    await session.detach();
    throw error;
  }
}
