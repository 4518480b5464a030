import { codex } from './adapters/codex.js';
import { desktopCommander } from './adapters/desktop-commander.js';
import { mcpServerCommands } from './adapters/mcp-server-commands.js';
import { pexpect } from './adapters/pexpect.js';
import type { Peer } from './peer.js';

/** Every peer, in the order of the table. */
export const PEERS: readonly Peer[] = [codex, desktopCommander, mcpServerCommands, pexpect];

/** @throws Error that names the peers there are */
export function peerNamed(name: string): Peer {
  const peer = PEERS.find((one) => one.name === name);
  if (!peer) throw new Error(`no peer "${name}": there are ${PEERS.map((one) => one.name).join(', ')}`);
  return peer;
}
