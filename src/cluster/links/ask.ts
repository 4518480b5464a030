import type { OpenLink } from './link-types.js';

/** The answer of a worker to a message; undefined without a connection, or an answer in time. */
export async function ask(
  open: OpenLink | undefined,
  name: string,
  message: object,
  timeoutMs: number,
): Promise<unknown> {
  try {
    return await open?.socket.timeout(timeoutMs).emitWithAck(name, message);
  } catch {
    // It has not answered in time.
    return undefined;
  }
}
