import { AdapterError } from '../../../core/errors.js';
import type { Listening } from '../contract/listening.js';
import { isMissing, runProgram, SYSTEM_PATH } from './run-program.js';
import { parseOpenSockets, parseTakenPorts, SOCKET_FIELDS } from './socket-lists.js';

/** A look runs a program, which takes some tens of milliseconds. */
const LOOK_MS = 500;
/** No names of hosts and ports, no warnings, and both conditions at once. */
const ONLY_LISTENING = ['-nPw', '-a', '-iTCP', '-sTCP:LISTEN', `-F${SOCKET_FIELDS}`];
/** There are no network namespaces. */
const MACHINE = 'machine';

/** Ports by lsof(8) and netstat(1). Sockets of other users are shown by netstat(1) alone. */
export const posixListening: Listening = {
  lookMs: LOOK_MS,
  networkOf: () => MACHINE,
  portsOf: async (pids) => {
    const text = pids.length === 0 ? '' : await run('lsof', [...ONLY_LISTENING, '-p', pids.join(',')]);
    return parseOpenSockets(text).sort((a, b) => a.port - b.port || a.pid - b.pid);
  },
  isTaken: async (port) => parseTakenPorts(await run('netstat', ['-an'])).has(port),
};

async function run(program: string, args: readonly string[]): Promise<string> {
  try {
    return await runProgram(program, args);
  } catch (cause) {
    const why = isMissing(cause)
      ? `is not installed in ${SYSTEM_PATH}: install it`
      : `failed: ${(cause as Error).message}`;
    const message = `the platform posix finds ports by ${program}, which ${why}`;
    throw new AdapterError('PORT_UNAVAILABLE', message, { cause, details: { program } });
  }
}
