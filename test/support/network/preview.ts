import { fileURLToPath } from 'node:url';

import type { WireClient } from '../wire.js';

const SERVER = fileURLToPath(new URL('../../fixtures/preview-server.mjs', import.meta.url));

/** A web server in a session. */
export interface ServedSession {
  readonly session_id: string;
  readonly port: number;
  /** Path of its preview, with a slash at its end. */
  readonly path: string;
}

/** Starts a web server in a session of its own; waits until it listens. */
export async function serveInSession(
  client: WireClient,
  { address = '127.0.0.1', sandbox }: { readonly address?: string; readonly sandbox?: 'none' | 'strict' } = {},
): Promise<ServedSession> {
  const session_id = await client.openSession({ ...(sandbox && { sandbox }) });
  const { command_id } = await client.run(`'${process.execPath}' '${SERVER}' ${address}`, session_id, {
    background: true,
  });
  const { match } = await client.request('wait_for', { command_id, pattern: '^port \\d+$', regex: true });
  const port = Number(/\d+/.exec(match?.text ?? '')?.[0]);
  return { session_id, port, path: `/v1/sessions/${session_id}/ports/${port}/` };
}
