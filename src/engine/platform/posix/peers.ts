import type { PeerLook, PeerSocket, TcpEnds } from '../contract/peers.js';
import { isMissing, runProgram } from './run-program.js';
import { CONNECTION_FIELDS, connectionOf, parseConnections } from './socket-lists.js';

/** Each runs a program. */
const MAX_LOOKS = 2;

/** Peers by lsof(8), which shows a user who is not root the connections of that user alone. */
export const posixPeers: PeerLook = { maxLooks: MAX_LOOKS, findAll };

async function findAll(asked: readonly TcpEnds[]): Promise<readonly (PeerSocket | undefined)[]> {
  const owners = parseConnections(await listConnections(asked));
  return asked.map((ends) => {
    const owner = owners.get(connectionOf(ends));
    return owner === undefined ? undefined : { owner, inode: undefined };
  });
}

async function listConnections(asked: readonly TcpEnds[]): Promise<string> {
  const ports = [...new Set(asked.map(({ remotePort }) => remotePort))].join(',');
  try {
    return await runProgram('lsof', ['-nPw', `-iTCP:${ports}`, '-sTCP:ESTABLISHED', `-F${CONNECTION_FIELDS}`]);
  } catch (error) {
    // Without it, every connection over TCP needs a token: `doctor` says so.
    if (isMissing(error)) return '';
    throw error;
  }
}
