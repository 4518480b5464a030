import type { RequestInput } from '../../core/protocol/requests.js';
import type { SessionEndReason } from '../../core/protocol/results.js';
import { ClientError, hasCode } from '../errors.js';
import type { EventRouter, FollowedSession } from '../event-router.js';
import type { Connection } from './connection.js';

/** Appended to error messages, and the reason of sessions that ended with an earlier run. */
const RESTARTED = 'the daemon was restarted, and everything of its earlier run has ended';

/** Tracks the runs of the daemon that one client has been connected to, by `instance_id`. */
export class DaemonRuns {
  #current: string | undefined;
  #hasRestarted = false;

  /** `instance_id` of the latest run; undefined before the daemon has sent it. */
  get current(): string | undefined {
    return this.#current;
  }

  /** Whether the daemon was restarted since this client first connected. */
  get hasRestarted(): boolean {
    return this.#hasRestarted;
  }

  /** Records the run behind a new connection; returns whether it differs from the previous one. */
  note(instanceId: string): boolean {
    const isOther = this.#current !== undefined && this.#current !== instanceId;
    this.#current = instanceId;
    this.#hasRestarted ||= isOther;
    return isOther;
  }

  /** Adds to errors about unknown ids that the daemon was restarted, if it was. */
  async explain<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      if (!this.#hasRestarted || !hasCode(error, 'SESSION_NOT_FOUND', 'COMMAND_NOT_FOUND', 'CONFIRMATION_NOT_FOUND')) {
        throw error;
      }
      const details = { ...error.details, restarted: true };
      throw new ClientError(error.code, `${error.message}: ${RESTARTED}`, { details, cause: error });
    }
  }
}

/** State from before the connection broke. */
interface Earlier {
  /** A command that the daemon has answered. */
  readonly knownCommandId: string | undefined;
  readonly runs: DaemonRuns;
  /** The subscription of the earlier connection. */
  readonly subscription: RequestInput<'subscribe'> | undefined;
}

/** Options of requests that are valid only on the current connection. */
const BOUND = { isBound: true, timeoutMs: Infinity };

/**
 * Restores the state after a reconnection: attaches the sessions from the next event on, switches outputs without
 * events to polling, and resolves whether doubtful commands have arrived.
 */
export async function recover(
  connection: Connection,
  router: EventRouter,
  { knownCommandId, runs, subscription }: Earlier,
): Promise<void> {
  if (subscription) await subscribeAgain(connection, subscription);
  const { sessions } = router;
  const attached = await Promise.all(sessions.map((session) => attachAgain(connection, router, session, runs)));
  router.noteUnfollowed(new Set(sessions.filter((_, index) => attached[index]).map(({ id }) => id)));
  const doubtful = connection.doubtfulOneShots();
  if (doubtful.length === 0 || attached.includes(true)) return;
  if (knownCommandId !== undefined && (await knows(connection, knownCommandId))) return;
  // The daemon may have been restarted since, which cannot be detected here: a command that it does not know may have
  // run in the earlier run.
  for (const request of doubtful) {
    if (!(await knows(connection, String(request.payload['command_id'])))) request.reject(unknownOutcome(runs));
  }
}

/** Repeats a subscription. A daemon that refuses it by now has told why when it was asked first. */
async function subscribeAgain(connection: Connection, subscription: RequestInput<'subscribe'>): Promise<void> {
  try {
    await connection.request('subscribe', subscription, BOUND);
  } catch (error) {
    if (!(error instanceof ClientError) || hasCode(error, 'CONNECTION_LOST', 'CLIENT_CLOSED')) throw error;
  }
}

/** Attaches a session; returns false on failure. */
async function attachAgain(
  connection: Connection,
  router: EventRouter,
  { id, sequence, maxBytesPerSecond }: FollowedSession,
  runs: DaemonRuns,
): Promise<boolean> {
  try {
    const request = { session_id: id, from_seq: sequence.next, max_bytes_per_second: maxBytesPerSecond };
    const { next_seq, gap } = await connection.request('attach_session', request, BOUND);
    router.noteReachable(id, true);
    if (gap) router.noteGap(id, gap.to_seq);
    if (sequence.next === undefined) sequence.skip(next_seq - 1);
    return true;
  } catch (error) {
    if (!(error instanceof ClientError) || hasCode(error, 'CONNECTION_LOST', 'CLIENT_CLOSED')) throw error;
    if (error.code === 'SESSION_NOT_FOUND') router.route('session_closed', { session_id: id, ...endOf(error, runs) });
    return false;
  }
}

/**
 * End of a session according to the daemon's error. A restarted daemon does not know the sessions of its earlier run.
 */
function endOf({ message, details }: ClientError, runs: DaemonRuns): { reason: SessionEndReason; detail: string } {
  if (runs.hasRestarted) return { reason: 'restarted', detail: RESTARTED };
  const { reason = 'shutdown', detail = message } = (details ?? {}) as { reason?: SessionEndReason; detail?: string };
  return { reason, detail };
}

async function knows(connection: Connection, commandId: string): Promise<boolean> {
  try {
    await connection.request('wait_command', { command_id: commandId, timeout_ms: 0 }, BOUND);
    return true;
  } catch (error) {
    if (hasCode(error, 'COMMAND_NOT_FOUND')) return false;
    throw error;
  }
}

const unknownOutcome = ({ hasRestarted }: DaemonRuns): ClientError =>
  hasRestarted
    ? new ClientError(
        'CONNECTION_LOST',
        'the daemon was restarted: the command was ended with it, or never ran; check what it has done before running it again',
        { details: { restarted: true } },
      )
    : new ClientError(
        'CONNECTION_LOST',
        'the connection broke while the command was sent, and the daemon does not know it; ' +
          'check what it has done before running it again',
      );
