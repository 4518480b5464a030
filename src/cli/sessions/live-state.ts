import type { AdapterClient, EventPayload, RequestInput, SessionInfo } from '../../client/index.js';

/** A command as `commands_changed` describes it. */
export type LiveCommand = EventPayload<'commands_changed'>['commands'][number];

/** Interval between two events of a topic, in milliseconds. */
const REFRESH_MS = 1000;

/** What a subscription has told so far: the state of the daemon as this client may see it. */
export class LiveState {
  readonly #sessions = new Map<string, SessionInfo>();
  readonly #commands = new Map<string, LiveCommand>();
  host: EventPayload<'host_usage'> | undefined;

  /** The open sessions, the oldest first. */
  get sessions(): SessionInfo[] {
    return [...this.#sessions.values()].sort((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at));
  }

  /** The commands that have not ended, the oldest first. */
  get running(): LiveCommand[] {
    const running = [...this.#commands.values()];
    return running.sort((a, b) => Date.parse(a.accepted_at) - Date.parse(b.accepted_at));
  }

  /** Takes an event about sessions. */
  noteSessions({ sessions, closed, complete }: EventPayload<'sessions_changed'>): void {
    if (complete) this.#sessions.clear();
    for (const session of sessions) this.#sessions.set(session.session_id, session);
    for (const { session_id: id } of closed) this.#sessions.delete(id);
  }

  /** Takes an event about commands. */
  noteCommands({ commands, complete }: EventPayload<'commands_changed'>): void {
    if (complete) this.#commands.clear();
    for (const command of commands) {
      // Owners choose the ids of their commands.
      const key = `${command.owner} ${command.command_id}`;
      if (command.state === 'ended') this.#commands.delete(key);
      else this.#commands.set(key, command);
    }
  }
}

/**
 * Subscribes, and keeps a state current until the signal aborts.
 * @param onChange called after each event; not again before its promise has resolved
 * @throws ClientError when the daemon refuses, or the connection is closed permanently
 */
export async function followState(
  client: AdapterClient,
  topics: RequestInput<'subscribe'>['topics'],
  onChange: (state: LiveState) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const state = new LiveState();
  const ended = untilEnded(client, signal);
  const show = serially(() => onChange(state), ended.reject);
  client.on('sessions_changed', (event) => {
    state.noteSessions(event);
    show();
  });
  client.on('commands_changed', (event) => {
    state.noteCommands(event);
    show();
  });
  client.on('host_usage', (entry) => {
    state.host = entry;
    show();
  });
  await Promise.race([client.subscribe(topics, REFRESH_MS), ended.promise]);
  await ended.promise;
}

/** Resolves when the signal aborts; rejects when the connection is closed permanently, or with what is given. */
function untilEnded(client: AdapterClient, signal: AbortSignal) {
  let reject: (error: unknown) => void = () => undefined;
  const promise = new Promise<void>((resolve, fail) => {
    reject = fail;
    signal.addEventListener('abort', () => {
      resolve();
    });
    client.onConnection((state, error) => {
      if (state === 'closed') fail(error ?? new Error('the connection has ended'));
    });
    if (signal.aborted) resolve();
  });
  promise.catch(() => undefined);
  return { promise, reject };
}

/** Calls a function once at a time; calls in the meantime become one more. */
function serially(run: () => Promise<void>, onError: (error: unknown) => void): () => void {
  let isRunning = false;
  let isWanted = false;
  const work = async () => {
    while (isWanted) {
      isWanted = false;
      await run();
    }
  };
  return () => {
    isWanted = true;
    if (isRunning) return;
    isRunning = true;
    work()
      .catch(onError)
      .finally(() => {
        isRunning = false;
      });
  };
}
