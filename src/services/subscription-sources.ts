import { canAccess, type Principal } from '../core/principal.js';
import { ChangeTracker } from '../core/change-tracker.js';
import type { NodeInfo } from '../core/protocol/requests/nodes.js';
import { type EventPayload, MAX_TICK_ENTRIES, MAX_TICK_RECORDS } from '../core/protocol/results.js';
import type { AuditLog } from './audit.js';
import type { ClusterPort } from './cluster-port.js';
import type { Confirmations } from './confirmations/confirmations.js';
import type { CallLog } from './llm/call-log.js';
import type { HostMonitor } from './machine/host-monitor.js';
import type { EventSink } from './registry/caller.js';
import { type CommandRecord, describeCommand } from './registry/command-record.js';
import type { CommandJournal } from './registry/command-registry.js';
import type { SessionRecord, SessionRegistry } from './registry/session-registry.js';
import type { SessionDescriptions } from './sessions/session-description.js';

/** A client that a source sends events to. */
export interface Subscriber {
  readonly principal: Principal;
  readonly sink: EventSink;
}

/** Sends one subscriber what has changed in a topic since the last call; the first call sends everything. */
export type Feed = () => void | Promise<void>;

/** The changes of one topic. Costs nothing before `open` and after `close`. */
export interface Source {
  /** Begins to observe: there is a subscriber. */
  open?(): void;
  /** Looks at what has changed, for the feeds of this tick. */
  look?(): void;
  /** Ends what `open` has begun: there is no subscriber any more. */
  close?(): void;
  /** Makes the feed of a subscriber. Only called while open. */
  feed(subscriber: Subscriber): Feed;
}

/** The entries of one event, the newest first, and whether others were left out. */
function limited<T>(entries: readonly T[]): { readonly entries: readonly T[]; readonly mark: TruncatedMark } {
  const isTruncated = entries.length > MAX_TICK_ENTRIES;
  return { entries: entries.slice(0, MAX_TICK_ENTRIES), mark: isTruncated ? { truncated: true } : {} };
}

/** Says in an event that entries were left out. */
type TruncatedMark = { readonly truncated?: true };

/** New records of the audit log. Only those that are sent are read. */
export class AuditSource implements Source {
  readonly #log: AuditLog;

  constructor(log: AuditLog) {
    this.#log = log;
  }

  feed({ sink }: Subscriber): Feed {
    let last: number | undefined;
    let isReading = false;
    let hasFailed = false;
    const sendNew = async () => {
      const after = last;
      const limit = Math.min(MAX_TICK_RECORDS, this.#log.lastSeq - (after ?? 0));
      const { records: read } = limit > 0 ? await this.#log.read({ limit }) : { records: [] };
      const records = read.filter(({ seq }) => seq > (after ?? 0)).reverse();
      last = records.at(-1)?.seq ?? after ?? 0;
      hasFailed = false;
      if (records.length === 0 && after !== undefined) return;
      const skipped = after === undefined ? 0 : last - after - records.length;
      sink.send('audit_records', { records, skipped });
    };
    return async () => {
      if (isReading || this.#log.lastSeq === last) return;
      isReading = true;
      try {
        await sendNew();
      } catch (error) {
        // Each tick tries again; the log has the first failure.
        const isKnown = hasFailed;
        hasFailed = true;
        if (!isKnown) throw error;
      } finally {
        isReading = false;
      }
    };
  }
}

/** The changes of commands: only those that have not ended, or have ended since the last look, are looked at. */
export class CommandSource implements Source {
  readonly #journal: CommandJournal;
  readonly #open = new Set<CommandRecord>();
  #changes = new ChangeTracker<CommandRecord>();

  constructor(journal: CommandJournal) {
    this.#journal = journal;
  }

  open(): void {
    for (const [record] of this.#journal.newestFirst()) if (!record.command.outcome) this.#open.add(record);
    this.#journal.listen((record) => this.#open.add(record));
  }

  look(): void {
    for (const record of this.#open) {
      this.#changes.note(record, stampOf(record));
      if (!record.command.outcome) continue;
      this.#changes.retire(record);
      this.#open.delete(record);
    }
  }

  close(): void {
    this.#journal.listen(undefined);
    this.#open.clear();
    this.#changes = new ChangeTracker();
  }

  feed({ principal, sink }: Subscriber): Feed {
    let isFirst = true;
    let revision = 0;
    return () => {
      const known = isFirst
        ? this.#journal.newestFirst().map(([record]) => record)
        : this.#changes.changedSince(revision);
      revision = this.#changes.revision;
      const seen = known.filter(({ owner }) => canAccess(principal, owner.id, 'see'));
      if (!isFirst && seen.length === 0) return;
      const { entries, mark } = limited(seen);
      const complete = isFirst ? { complete: true as const } : {};
      isFirst = false;
      const commands = entries.map((record) => describeCommand(record, this.#journal.node));
      sink.send('commands_changed', { commands, ...complete, ...mark });
    };
  }
}

const stampOf = ({ command }: CommandRecord): readonly unknown[] => [
  command.outcome,
  command.hasStarted,
  command.stdout.bytes,
  command.stderr.bytes,
  command.meter.use,
];

/** A node that is listed, or was. */
interface KnownNode {
  info: NodeInfo;
}

/** The changes of the nodes of the cluster, as this node knows them. */
export class NodeSource implements Source {
  readonly #nodes: ClusterPort['nodes'];
  readonly #known = new Map<string, KnownNode>();
  #changes = new ChangeTracker<KnownNode>();
  #removed = new ChangeTracker<KnownNode>();

  constructor(nodes: ClusterPort['nodes']) {
    this.#nodes = nodes;
  }

  look(): void {
    const { nodes } = this.#nodes.list();
    for (const info of nodes) this.#note(info);
    const names = new Set(nodes.map(({ node }) => node));
    for (const [name, known] of this.#known) if (!names.has(name)) this.#forget(name, known);
  }

  close(): void {
    this.#known.clear();
    this.#changes = new ChangeTracker();
    this.#removed = new ChangeTracker();
  }

  feed({ sink }: Subscriber): Feed {
    let isFirst = true;
    let revision = 0;
    let removals = this.#removed.revision;
    return () => {
      const changed = this.#changes.changedSince(revision).map(({ info }) => info);
      const gone = this.#removed.changedSince(removals).map(({ info }) => info.node);
      revision = this.#changes.revision;
      removals = this.#removed.revision;
      // One of them may have come again.
      const removed = [...new Set(gone)].filter((name) => !this.#known.has(name));
      if (!isFirst && changed.length === 0 && removed.length === 0) return;
      const { entries: nodes, mark } = limited(changed);
      sink.send('nodes_changed', { nodes: [...nodes], removed, ...(isFirst && { complete: true as const }), ...mark });
      isFirst = false;
    };
  }

  #note(info: NodeInfo): void {
    const known = this.#known.get(info.node) ?? { info };
    known.info = info;
    this.#known.set(info.node, known);
    this.#changes.note(known, [stampOfNode(info)]);
  }

  #forget(name: string, known: KnownNode): void {
    this.#known.delete(name);
    this.#changes.forget(known);
    this.#removed.note(known, []);
    this.#removed.retire(known);
  }
}

/** What of a node is told when it changes. One that is there is seen all the time. */
function stampOfNode(info: NodeInfo): string {
  const isThere = info.state === 'live' || info.state === 'draining';
  return JSON.stringify(isThere ? { ...info, seen_at: null } : info);
}

interface ClosedSession {
  /** Id of the principal that owned it. */
  readonly owner: string;
  readonly end: EventPayload<'sessions_changed'>['closed'][number];
}

/** The changes of sessions: sessions are compared by their stamps, and described only if they have changed. */
export class SessionSource implements Source {
  readonly #registry: SessionRegistry;
  readonly #descriptions: SessionDescriptions;
  #open = new ChangeTracker<SessionRecord>();
  #closed = new ChangeTracker<ClosedSession>();

  constructor(registry: SessionRegistry, descriptions: SessionDescriptions) {
    this.#registry = registry;
    this.#descriptions = descriptions;
  }

  look(): void {
    for (const record of this.#registry.all()) this.#open.note(record, this.#descriptions.stampOf(record));
    for (const record of this.#open.items) {
      if (this.#registry.find(record.id) === record) continue;
      this.#open.forget(record);
      this.#noteClosed(record);
    }
  }

  close(): void {
    this.#open = new ChangeTracker();
    this.#closed = new ChangeTracker();
  }

  feed({ principal, sink }: Subscriber): Feed {
    let isFirst = true;
    let open = 0;
    let closed = this.#closed.revision;
    return () => {
      const isSeen = (owner: string) => canAccess(principal, owner, 'see');
      const changed = this.#open.changedSince(open).filter(({ owner }) => isSeen(owner.id));
      const gone = this.#closed.changedSince(closed).filter(({ owner }) => isSeen(owner));
      open = this.#open.revision;
      closed = this.#closed.revision;
      if (!isFirst && changed.length === 0 && gone.length === 0) return;
      const { entries, mark } = limited(changed);
      sink.send('sessions_changed', {
        sessions: entries.map((record) => this.#descriptions.describe(record)),
        closed: gone.map(({ end }) => end),
        ...(isFirst && { complete: true as const }),
        ...mark,
      });
      isFirst = false;
    };
  }

  #noteClosed({ id, owner }: SessionRecord): void {
    const { reason = 'client', detail = '' } = this.#registry.endOf(id) ?? {};
    const closed = { owner: owner.id, end: { session_id: id, reason, detail } };
    this.#closed.note(closed, []);
    this.#closed.retire(closed);
  }
}

/** The open confirmations at the beginning: later ones are sent to every client concerned. */
export class ConfirmationSource implements Source {
  readonly #confirmations: Confirmations;

  constructor(confirmations: Confirmations) {
    this.#confirmations = confirmations;
  }

  feed({ principal, sink }: Subscriber): Feed {
    let isFirst = true;
    return () => {
      if (!isFirst) return;
      isFirst = false;
      for (const confirmation of this.#confirmations.seenBy(principal)) {
        sink.send('confirmation_required', this.#confirmations.describe(confirmation, principal));
      }
    };
  }
}

export class LlmSource implements Source {
  readonly #calls: CallLog;

  constructor(calls: CallLog) {
    this.#calls = calls;
  }

  feed({ principal, sink }: Subscriber): Feed {
    let isFirst = true;
    let revision = 0;
    return () => {
      if (!isFirst && this.#calls.revision === revision) return;
      const { entries, mark } = limited(this.#calls.changedSince(revision, principal));
      revision = this.#calls.revision;
      const complete = isFirst ? { complete: true as const } : {};
      if (isFirst || entries.length > 0) sink.send('llm_changed', { calls: [...entries], ...complete, ...mark });
      isFirst = false;
    };
  }
}

export class HostSource implements Source {
  readonly #host: HostMonitor;

  constructor(host: HostMonitor) {
    this.#host = host;
  }

  feed({ sink }: Subscriber): Feed {
    let last = 0;
    return () => {
      const { number, entry } = this.#host.live();
      if (number === last) return;
      last = number;
      sink.send('host_usage', entry);
    };
  }
}
