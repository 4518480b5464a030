import { setTimeout as sleep } from 'node:timers/promises';

import type { WireClient } from '../../../support/wire.js';
import type { ClientOptions } from './client-options.js';
import { CommandSender } from './commands.js';
import { Line } from './line.js';

/** Longest pause between two requests, in milliseconds. */
const PAUSE_MS = 400;
/** Most commands in a session. */
const MOST_COMMANDS = 15;

/** Opens a session; undefined when that was not certain, or not possible. */
async function openSession({ counts, fail }: ClientOptions, line: Line): Promise<string | undefined> {
  const answer = await line.ask('open_session', {});
  if (!answer) return undefined;
  if (!answer.error) {
    counts.add('sessions');
    return answer.session_id;
  }
  const { code, message } = answer.error;
  counts.add(`sessions refused: ${code}`);
  if (!OPENING_ERRORS.has(code)) fail(`open_session: ${code}: ${message}`);
  return undefined;
}

const OPENING_ERRORS = new Set([
  'NODE_LOST',
  'NODE_UNREACHABLE',
  'NO_CAPACITY',
  'REGISTRY_UNAVAILABLE',
  'SESSION_LIMIT',
]);

/** What a client has, besides its options. */
export interface ClientParts {
  readonly line: Line;
  readonly commands: CommandSender;
}

/** Opens sessions one after the other, and closes each once it was used. */
export async function inSessions(
  options: ClientOptions,
  use: (sessionId: string, options: ClientOptions, parts: ClientParts) => Promise<void>,
): Promise<void> {
  const { random, signal } = options;
  await using line = new Line(options);
  const commands = new CommandSender(options, line);
  while (!signal.aborted) {
    const session_id = await openSession(options, line);
    if (session_id !== undefined) {
      await use(session_id, options, { line, commands });
      line.prepare = () => Promise.resolve();
      await line.ask('close_session', { session_id });
    }
    await sleep(random() * PAUSE_MS);
  }
}

/** Attaches over each new connection: a session that no client follows ends after a while, also under its commands. */
function follow(session_id: string, first: WireClient): Line['prepare'] {
  let attached = first;
  return async (client) => {
    if (client === attached) return;
    attached = client;
    // The command says what is wrong with its session.
    await client.request('attach_session', { session_id }).catch(() => undefined);
  };
}

/** Runs commands in sessions that count them: their state says how many have run. */
export const useSessions = (options: ClientOptions): Promise<void> => inSessions(options, countIn);

/** Each command adds one; those that may have run leave one more open. */
async function countIn(session_id: string, options: ClientOptions, { line, commands }: ClientParts): Promise<void> {
  line.prepare = follow(session_id, await line.connected());
  const { random, signal, fail, counts } = options;
  let [least, most] = [0, 0];
  for (let left = 1 + Math.floor(random() * MOST_COMMANDS); left > 0 && !signal.aborted; left -= 1) {
    const id = commands.nextId();
    const { outcome, answer, isSessionLost } = await commands.run(id, 'n=$((n + 1)); echo $n', { session_id });
    if (isSessionLost) {
      counts.add('sessions lost');
      return;
    }
    if (outcome === 'unknown') most += 1;
    if (answer) {
      const counted = Number(answer.stdout);
      if (!(counted > least && counted <= most + 1))
        fail(`${session_id} has counted ${answer.stdout.trim()}, expected ${least + 1} to ${most + 1}, with ${id}`);
      [least, most] = [counted, counted];
    }
    await sleep(random() * PAUSE_MS);
  }
}
