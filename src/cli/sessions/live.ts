import type { AdapterClient, EventPayload, RequestInput, SessionInfo } from '../../client/index.js';
import { onAbort } from '../../core/abort.js';
import type { DaemonOptions } from '../connect/daemon-address.js';
import { untilClosed, withDaemon } from '../connect/with-daemon.js';
import { type Context, untilStopped } from '../console/context.js';
import { alignColumns, formatBytes, formatSpan, onOneLine, Screen, table } from '../console/style.js';
import { type JsonOption, printAnswer } from '../console/subcommand.js';
import { lineOf, listCommands, MAX_LIMIT } from './commands.js';

/** Longest label, owner, directory or command in a table, in characters. */
const MAX_CELL = 40;

/**
 * Shows the machine, sessions and running commands, once or until a signal arrives.
 * @throws CommandLineError, ConfigurationError, ClientError
 */
export async function showTop(
  context: Context,
  { once, json = false, ...options }: DaemonOptions & JsonOption & { readonly once?: boolean },
): Promise<void> {
  const isOnce = once ?? (!json && !context.stdout.isTerminal);
  const show = topDisplay(context, { json, isOnce });
  await untilStopped(context, (signal) =>
    withDaemon(options, context, (client) => (isOnce ? showOnce(client, show, signal) : goOn(client, show, signal))),
  );
}

/** Sessions and commands are asked for: where several processes hold them, the answer has those of all. */
async function showOnce(client: AdapterClient, show: ShowTop, signal: AbortSignal): Promise<void> {
  const enough = new AbortController();
  const take = async ({ host }: Snapshot) => {
    if (!host || enough.signal.aborted) return;
    const [sessions, commands] = await Promise.all([
      client.listSessions(),
      listCommands(client, undefined, { limit: MAX_LIMIT, running: true }),
    ]);
    await show({ host, sessions, running: commands.toReversed() });
    enough.abort();
  };
  await followState(client, ['host'], take, AbortSignal.any([signal, enough.signal]));
}

async function goOn(client: AdapterClient, show: ShowTop, signal: AbortSignal): Promise<void> {
  const seen = new Set<string>();
  for (const event of EVENTS) client.on(event, () => seen.add(event));
  const take = async (state: Snapshot) => {
    if (seen.size === EVENTS.length) await show(state);
  };
  await followState(client, ['sessions', 'commands', 'host'], take, signal);
}

/** One of each has to come before there is something to show. */
const EVENTS = ['sessions_changed', 'commands_changed', 'host_usage'] as const;

type Snapshot = Pick<LiveState, 'host' | 'sessions' | 'running'>;

type ShowTop = (state: Snapshot) => Promise<void>;

function topDisplay(context: Context, { json, isOnce }: { readonly json: boolean; readonly isOnce: boolean }): ShowTop {
  const { stdout } = context;
  if (json) {
    return ({ host, sessions, running: commands }) =>
      stdout.write(`${JSON.stringify({ host, sessions, commands }, null, isOnce ? 2 : undefined)}\n`);
  }
  if (isOnce) return (state) => stdout.write(`${renderTop(state, Date.now()).join('\n')}\n`);
  const screen = new Screen(context.stdout);
  return (state) => screen.draw(renderTop(state, Date.now()));
}

/** Renders the state, line by line. */
function renderTop({ host, sessions, running }: Snapshot, now: number): string[] {
  return [
    ...(host ? [machineLine(host), ''] : []),
    ...sessionTable(sessions),
    ...(running.length > 0 ? ['', ...commandTable(running, now)] : []),
  ];
}

function machineLine(host: NonNullable<LiveState['host']>): string {
  const { cpu_percent: cpu, load1, memory_used_bytes: memory, net_rx_bytes_s: received, net_tx_bytes_s: sent } = host;
  return [
    `CPU ${cpu === null ? '-' : `${cpu.toFixed(0)} %`}`,
    `load ${load1.toFixed(2)}`,
    `memory ${formatBytes(memory)}`,
    `received ${received === null ? '-' : `${formatBytes(received)}/s`}`,
    `sent ${sent === null ? '-' : `${formatBytes(sent)}/s`}`,
    `sessions ${host.sessions}`,
    `commands ${host.commands_running}`,
    `daemon ${formatBytes(host.daemon_rss_bytes)}`,
  ].join('  ');
}

/** The sessions, those that use the most CPU time first. */
function sessionTable(sessions: readonly SessionInfo[]): string[] {
  const busiest = sessions.toSorted((a, b) => (b.usage?.cpu_percent ?? -1) - (a.usage?.cpu_percent ?? -1));
  const rows = busiest.map(({ session_id: id, owner, label, state, usage, running_command: running, warnings }) => [
    id,
    onOneLine(owner, MAX_CELL),
    onOneLine(label ?? '-', MAX_CELL),
    warnings.length > 0 ? `${state}, ${warnings.length} warnings` : state,
    usage ? `${usage.cpu_percent.toFixed(0)} %` : '-',
    usage ? formatBytes(usage.memory_bytes) : '-',
    usage ? String(usage.processes) : '-',
    onOneLine(running?.command ?? '-', MAX_CELL),
  ]);
  const head = ['SESSION', 'OWNER', 'LABEL', 'STATE', 'CPU', 'MEMORY', 'PROCESSES', 'RUNNING'];
  return table(head, rows, 'No session is open.');
}

function commandTable(commands: readonly LiveCommand[], now: number): string[] {
  const rows = commands.map((command) => {
    const { command_id: id, owner, started_at: startedAt, resource_usage: use, stdout_bytes, stderr_bytes } = command;
    return [
      id,
      onOneLine(owner, MAX_CELL),
      startedAt === null ? command.state : formatSpan(now - Date.parse(startedAt)),
      use.cpu_ms === null ? '-' : `${(use.cpu_ms / 1000).toFixed(1)}s`,
      use.peak_memory_bytes === null ? '-' : formatBytes(use.peak_memory_bytes),
      formatBytes(stdout_bytes + stderr_bytes),
      lineOf(command),
    ];
  });
  return alignColumns([['COMMAND', 'OWNER', 'RUNS', 'CPU TIME', 'PEAK MEMORY', 'OUTPUT', 'TEXT'], ...rows]);
}

/**
 * Lists the sessions, or shows them until a signal arrives.
 * @throws CommandLineError, ConfigurationError, ClientError
 */
export async function showSessions(
  context: Context,
  options: DaemonOptions & JsonOption & { readonly watch?: boolean },
): Promise<void> {
  if (options.watch) {
    await watchSessions(context, options);
    return;
  }
  const answer = await withDaemon(options, context, (client) => client.request('list_sessions', {}));
  await printAnswer(context, options, answer, ({ sessions }) => renderSessions(sessions, Date.now()));
}

function renderSessions(found: readonly SessionInfo[], now: number): string[] {
  const rows = found.map((session) => {
    const { session_id: id, label, shell, state, working_directory: directory, running_command: running } = session;
    const age = formatSpan(now - Date.parse(session.created_at));
    const idle = running ? '-' : formatSpan(now - Date.parse(session.last_used_at));
    const cells = [label ?? '-', directory, running?.command ?? '-'].map((cell) => onOneLine(cell, MAX_CELL));
    const end = `${formatSpan(Date.parse(session.expires_at) - now)} (${session.expires_reason})`;
    return [id, shell, state, age, idle, end, ...cells];
  });
  const head = ['SESSION', 'SHELL', 'STATE', 'AGE', 'IDLE', 'ENDS IN', 'LABEL', 'DIRECTORY', 'RUNNING'];
  return table(head, rows, 'No session is open.');
}

/** A table that is redrawn on a terminal, else a line for each change. */
async function watchSessions(context: Context, options: DaemonOptions & JsonOption): Promise<void> {
  const show = sessionsDisplay(context, options.json === true);
  // Ages on a screen go on each second, whether a session has changed or not.
  const topics: Topics = options.json || !context.stdout.isTerminal ? ['sessions'] : ['sessions', 'host'];
  await untilStopped(context, (signal) =>
    withDaemon(options, context, (client) => followState(client, topics, ({ sessions }) => show(sessions), signal)),
  );
}

type ShowSessions = (sessions: readonly SessionInfo[]) => Promise<void>;

function sessionsDisplay(context: Context, asJson: boolean): ShowSessions {
  if (asJson) return showChanges(context, (change, session) => JSON.stringify({ change, ...session }));
  if (context.stdout.isTerminal) {
    const screen = new Screen(context.stdout);
    return (sessions) => screen.draw(renderSessions(sessions, Date.now()));
  }
  return showChanges(context, (change, session) => {
    const running = session.running_command ? onOneLine(session.running_command.command, MAX_RUNNING) : '-';
    return `${new Date().toISOString()} ${change} ${session.session_id} ${session.state} ${running}`;
  });
}

/** Longest command on a line, in characters. */
const MAX_RUNNING = 200;

type Change = 'open' | 'changed' | 'closed';

/** Prints a line for each session at the start, and for each one that opens, changes its activity, or closes. */
function showChanges({ stdout }: Context, render: (change: Change, session: SessionInfo) => string): ShowSessions {
  let known = new Map<string, SessionInfo>();
  const activityOf = ({ state, running_command: running }: SessionInfo) => `${state} ${running?.command_id ?? ''}`;
  return async (sessions) => {
    const current = new Map(sessions.map((session) => [session.session_id, session]));
    for (const [id, session] of current) {
      const before = known.get(id);
      if (before && activityOf(before) === activityOf(session)) continue;
      await stdout.write(`${render(before ? 'changed' : 'open', session)}\n`);
    }
    for (const [id, session] of known) {
      if (!current.has(id)) await stdout.write(`${render('closed', session)}\n`);
    }
    known = current;
  };
}

/** A command as `commands_changed` describes it. */
export type LiveCommand = EventPayload<'commands_changed'>['commands'][number];

type Topics = RequestInput<'subscribe'>['topics'];

/** Interval between two events of a topic, in milliseconds. */
const REFRESH_MS = 1000;

/** What a subscription has told so far: the state of the daemon as this client may see it. */
class LiveState {
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

  noteSessions({ sessions, closed, complete }: EventPayload<'sessions_changed'>): void {
    if (complete) this.#sessions.clear();
    for (const session of sessions) this.#sessions.set(session.session_id, session);
    for (const { session_id: id } of closed) this.#sessions.delete(id);
  }

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
async function followState(
  client: AdapterClient,
  topics: Topics,
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
  const stopped = new Promise<void>((resolve, fail) => {
    reject = fail;
    onAbort(signal, resolve);
  });
  const promise = Promise.race([stopped, untilClosed(client)]);
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
