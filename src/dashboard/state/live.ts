import { batch, type Signal, signal } from '@preact/signals';

import type { AdapterClient, Answer, ConfirmationInfo, EventPayload, SessionInfo } from '../../client/index.js';
import type { CommandInfo, HostSample, HostSizes, LlmCall, Node, Topic } from './wire.js';

/** Longest time that is kept, in milliseconds: that of the widest chart. */
const KEPT_MS = 3_600_000;

/** Adds samples to those that are kept, in the order of their times; at one time there is one sample. */
export function addSamples(kept: readonly HostSample[], added: readonly HostSample[]): readonly HostSample[] {
  const newest = kept.at(-1);
  const [first] = added;
  // Once a second, one that is newer.
  if (newest && first && added.length === 1 && first.at > newest.at) {
    const from = new Date(Date.parse(first.at) - KEPT_MS).toISOString();
    const start = kept.findIndex(({ at }) => at > from);
    return [...(start === -1 ? [] : kept.slice(start)), first];
  }
  const byTime = new Map([...kept, ...added].map((sample) => [Date.parse(sample.at), sample]));
  const times = [...byTime.keys()].sort((a, b) => a - b);
  const oldest = (times.at(-1) ?? 0) - KEPT_MS;
  return times.filter((at) => at > oldest).flatMap((at) => byTime.get(at) ?? []);
}

/** Turns the columns of a history into samples. */
function samplesOf(history: Answer<'host_history'>): HostSample[] {
  return history.at.map((at, index) => ({
    at,
    cpu_percent: history.cpu_percent[index] ?? null,
    load1: history.load1[index] ?? 0,
    memory_used_bytes: history.memory_used_bytes[index] ?? 0,
    disk_used_bytes: history.disk_used_bytes[index] ?? null,
    net_rx_bytes_s: history.net_rx_bytes_s[index] ?? null,
    net_tx_bytes_s: history.net_tx_bytes_s[index] ?? null,
    sessions: history.sessions[index] ?? 0,
    commands_running: history.commands_running[index] ?? 0,
    daemon_rss_bytes: history.daemon_rss_bytes[index] ?? 0,
  }));
}

/** Entries by their ids. */
type Entries<T> = ReadonlyMap<string, T>;

/** Most ended commands that are kept of all sessions: older ones are read when they are wanted. */
const MAX_COMMANDS = 2000;
const MAX_CALLS = 300;

/** What every page may use; further topics are asked for by `want`. */
const TOPICS: readonly Topic[] = ['sessions', 'commands', 'confirmations', 'llm', 'host'];

/** What the daemon reports as it changes: signals, fed by one subscription. */
export class LiveData {
  /** Undefined before the first report. */
  readonly sessions: Signal<Entries<SessionInfo> | undefined> = signal(undefined);
  readonly commands: Signal<Entries<CommandInfo> | undefined> = signal(undefined);
  readonly calls: Signal<Entries<LlmCall> | undefined> = signal(undefined);
  readonly confirmations: Signal<Entries<ConfirmationInfo> | undefined> = signal(undefined);
  /** The nodes of the cluster, while `nodes` is wanted. */
  readonly nodes: Signal<Entries<Node> | undefined> = signal(undefined);
  readonly host: Signal<readonly HostSample[]> = signal([]);
  readonly hostSizes: Signal<HostSizes | undefined> = signal(undefined);
  /** Why sessions have ended that were there before, by their ids. */
  readonly ended: Signal<Entries<string>> = signal(new Map());
  /** Time of the daemon minus the time of this browser, in milliseconds. */
  readonly clockOffset = signal(0);
  #client: AdapterClient | undefined;
  readonly #wanted = new Map<Topic, number>();

  /** Begins to follow a daemon. */
  async begin(client: AdapterClient): Promise<void> {
    this.#client = client;
    this.#listen(client);
    await Promise.all([this.#subscribe(), this.refresh()]);
  }

  /** Reads what no subscription repeats after a lost connection. */
  async refresh(): Promise<void> {
    const client = this.#client;
    if (!client) return;
    const since = this.host.peek().at(-1)?.at;
    const [history, confirmations] = await Promise.all([
      client.request('host_history', { since }),
      // Viewers may not list them.
      client.listConfirmations().catch(() => []),
    ]);
    const { memory_bytes, disk_bytes, cpus } = history;
    batch(() => {
      for (const { server_time: time } of confirmations.slice(-1))
        this.clockOffset.value = Date.parse(time) - Date.now();
      this.hostSizes.value = { memory_bytes, disk_bytes, cpus };
      this.host.value = addSamples(this.host.peek(), samplesOf(history));
      this.confirmations.value = new Map(confirmations.map((info) => [info.confirmation_id, info]));
    });
  }

  /** Adds a topic to the subscription; returns a function that ends this want. */
  want(topic: Topic): () => void {
    const count = this.#wanted.get(topic) ?? 0;
    this.#wanted.set(topic, count + 1);
    if (count === 0) void this.#subscribe();
    return () => {
      const left = (this.#wanted.get(topic) ?? 1) - 1;
      this.#wanted.set(topic, left);
      if (left > 0) return;
      if (topic === 'nodes') this.nodes.value = undefined;
      void this.#subscribe();
    };
  }

  /** Forgets everything. */
  clear(): void {
    this.#client = undefined;
    batch(() => {
      for (const entries of [this.sessions, this.commands, this.calls, this.confirmations, this.nodes])
        entries.value = undefined;
      this.host.value = [];
      this.ended.value = new Map();
    });
  }

  async #subscribe(): Promise<void> {
    const wanted = [...this.#wanted].filter(([, count]) => count > 0).map(([topic]) => topic);
    // A connection that breaks meanwhile repeats it.
    await this.#client?.request('subscribe', { topics: [...TOPICS, ...wanted] }).catch(() => undefined);
  }

  #listen(client: AdapterClient): void {
    client.on('sessions_changed', (event) => {
      this.#onSessions(event);
    });
    client.on('commands_changed', ({ commands, complete }) => {
      // The first report begins with the newest.
      const oldestFirst = complete ? commands.toReversed() : commands;
      this.commands.value = merged(this.commands.peek(), complete, oldestFirst, MAX_COMMANDS);
    });
    client.on('llm_changed', ({ calls, complete }) => {
      this.calls.value = merged(this.calls.peek(), complete, calls, MAX_CALLS);
    });
    client.on('nodes_changed', ({ nodes, removed, complete }) => {
      this.nodes.value = without(merged(this.nodes.peek(), complete, nodes, Infinity), removed);
    });
    client.on('host_usage', (sample) => {
      this.clockOffset.value = Date.parse(sample.at) - Date.now();
      this.host.value = addSamples(this.host.peek(), [sample]);
    });
    client.on('confirmation_required', (info) => {
      this.clockOffset.value = Date.parse(info.server_time) - Date.now();
      this.confirmations.value = new Map(this.confirmations.peek()).set(info.confirmation_id, info);
    });
    client.on('confirmation_resolved', ({ confirmation_id: id }) => {
      this.confirmations.value = without(this.confirmations.peek(), [id]);
    });
  }

  #onSessions({ sessions, closed, complete }: EventPayload<'sessions_changed'>): void {
    batch(() => {
      const known = complete ? undefined : this.sessions.peek();
      const ids = closed.map(({ session_id: id }) => id);
      this.sessions.value = without(merged(known, complete, sessions, Infinity), ids);
      if (closed.length === 0) return;
      const reasons = closed.map(({ session_id: id, detail }) => [id, detail] as const);
      this.ended.value = new Map([...this.ended.peek(), ...reasons]);
    });
  }
}

type Identified = SessionInfo | CommandInfo | LlmCall | Node;

/** What no other entry has. Owners choose the ids of their commands. */
function idOf(entry: Identified): string {
  if ('call_id' in entry) return entry.call_id;
  if ('command_id' in entry) return `${entry.owner} ${entry.command_id}`;
  return 'session_id' in entry ? entry.session_id : entry.node;
}

/** Adds changed entries to those that are known; the oldest are dropped above a number. */
function merged<T extends Identified>(
  known: Entries<T> | undefined,
  isComplete: true | undefined,
  changed: readonly T[],
  max: number,
): Entries<T> {
  const entries = new Map(isComplete ? undefined : known);
  for (const entry of changed) entries.set(idOf(entry), entry);
  for (const oldest of entries.keys()) {
    if (entries.size <= max) break;
    entries.delete(oldest);
  }
  return entries;
}

function without<T>(entries: Entries<T> | undefined, ids: readonly string[]): Entries<T> {
  const left = new Map(entries);
  for (const id of ids) left.delete(id);
  return left;
}
