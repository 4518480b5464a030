import type { AdapterClient, SessionInfo } from '../../client/index.js';
import { formatBytes } from '../checkpoints/checkpoint-output.js';
import type { DaemonOptions } from '../connect/daemon-address.js';
import { withDaemon } from '../connect/with-daemon.js';
import { alignColumns, formatSpan, onOneLine } from '../console/style.js';
import { type Context, untilStopped } from '../console/context.js';
import { Screen } from '../console/screen.js';
import { lineOf, listCommands, MAX_LIMIT } from './history.js';
import { followState, type LiveCommand, type LiveState } from './live-state.js';

/** Options of `top`. */
export interface TopOptions extends DaemonOptions {
  readonly once?: boolean;
  readonly json?: boolean;
}

/** Longest label, owner or command in the table of sessions, in characters. */
const MAX_CELL = 40;

/**
 * Shows the machine, sessions and running commands, once or until a signal arrives.
 * @throws CommandLineError, ConfigurationError, ClientError
 */
export async function showTop(context: Context, { once, json = false, ...options }: TopOptions): Promise<void> {
  const isOnce = once ?? (!json && !context.stdout.isTerminal);
  const show = displayFor(context, { json, isOnce });
  await untilStopped(context, (signal) =>
    withDaemon(options, context, (client) => (isOnce ? showOnce(client, show, signal) : goOn(client, show, signal))),
  );
}

/** Sessions and commands are asked for: where several processes hold them, the answer has those of all. */
async function showOnce(client: AdapterClient, show: Display, signal: AbortSignal): Promise<void> {
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

async function goOn(client: AdapterClient, show: Display, signal: AbortSignal): Promise<void> {
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

type Display = (state: Snapshot) => Promise<void>;

function displayFor(context: Context, { json, isOnce }: { readonly json: boolean; readonly isOnce: boolean }): Display {
  const { stdout } = context;
  if (json) {
    return ({ host, sessions, running: commands }) =>
      stdout.write(`${JSON.stringify({ host, sessions, commands }, null, isOnce ? 2 : undefined)}\n`);
  }
  if (isOnce) return (state) => stdout.write(`${renderTop(state, Date.now()).join('\n')}\n`);
  const screen = new Screen(context);
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
  if (sessions.length === 0) return ['No session is open.'];
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
  return alignColumns([['SESSION', 'OWNER', 'LABEL', 'STATE', 'CPU', 'MEMORY', 'PROCESSES', 'RUNNING'], ...rows]);
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
