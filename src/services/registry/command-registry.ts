import { type AccessKind, canAccess, type Principal } from '../../core/principal.js';
import { nodeOf } from '../../core/cluster/address.js';
import { AdapterError } from '../../core/errors.js';
import { forbidden } from '../../core/protocol/permissions.js';
import { RecentSet } from '../../core/replay-ring.js';
import { SpoolBudget } from '../../engine/output/spool.js';
import type { CommandRecord } from './command-record.js';

/** The known commands of all owners in the order of their acceptance. */
export class CommandJournal {
  /** Name of this node of a cluster; undefined for a daemon alone. */
  readonly node: string | undefined;
  /** Each command with its number; a Map keeps the order. */
  readonly #numbers = new Map<CommandRecord, number>();
  #lastNumber = 0;
  #listener: ((record: CommandRecord) => void) | undefined;

  constructor(node: string | undefined) {
    this.node = node;
  }

  add(record: CommandRecord): void {
    this.#lastNumber += 1;
    this.#numbers.set(record, this.#lastNumber);
    this.#listener?.(record);
  }

  /** Calls a listener with each command that is accepted from now on; undefined ends that. */
  listen(listener: ((record: CommandRecord) => void) | undefined): void {
    this.#listener = listener;
  }

  remove(record: CommandRecord): void {
    this.#numbers.delete(record);
  }

  /** Known commands with their numbers, which rise with time; the newest first. */
  newestFirst(): (readonly [CommandRecord, number])[] {
    return [...this.#numbers].reverse();
  }
}

/** Maximum number of ended commands kept, for each session and for all one-shots of an owner. */
const MAX_ENDED = 256;
/** Least number of dropped ids remembered per owner: enough for hours of busy clients; at most 2 MB. */
const MAX_FORGOTTEN = 10_000;
/**
 * Maximum memory held by the outputs of ended commands, in bytes, for each session and for all one-shots of an owner.
 */
const MAX_ENDED_BYTES = 2 * 1024 * 1024;

/** Ended commands, oldest first, and the memory that their outputs hold. */
interface EndedCommands {
  readonly entries: { readonly record: CommandRecord; readonly bytes: number }[];
  bytes: number;
}

/** What remains of owners whose access has ended. */
interface Departed {
  readonly owner: Principal;
  readonly lastActiveMs: number;
}

/** The commands of one owner. Clients choose the ids, so ids of different owners are unrelated. */
class OwnCommands {
  readonly owner: Principal;
  readonly #journal: CommandJournal;
  readonly #records = new Map<string, CommandRecord>();
  /** Ids of dropped commands, which must not run a second time. */
  readonly #forgotten = new RecentSet<string>(MAX_FORGOTTEN);
  /** Ended commands by session id ('' for one-shots), oldest first. */
  readonly #ended = new Map<string, EndedCommands>();

  #running = 0;
  #lastEndMs = 0;
  #budget: SpoolBudget | undefined;
  /** Called when there is no command any more; undefined as long as the owner may come again. */
  #onEmpty: (() => void) | undefined;

  constructor(owner: Principal, journal: CommandJournal) {
    this.owner = owner;
    this.#journal = journal;
  }

  /** When a command last ran, as Unix time in milliseconds; Infinity while one runs. */
  get lastActiveMs(): number {
    return this.#running > 0 ? Infinity : this.#lastEndMs;
  }

  /** Bytes of one-shot output that is kept. */
  get spoolBytes(): number {
    return this.#budget?.usedBytes ?? 0;
  }

  /** What all one-shots share. */
  budget(maxBytes: number): SpoolBudget {
    return (this.#budget ??= new SpoolBudget(maxBytes));
  }

  find(commandId: string): CommandRecord | undefined {
    return this.#records.get(commandId);
  }

  hasForgotten(commandId: string): boolean {
    return this.#forgotten.has(commandId);
  }

  add(record: CommandRecord): void {
    this.#records.set(record.command.id, record);
    this.#journal.add(record);
    this.#running += 1;
    record.command.atEnd('retention', () => {
      this.#running -= 1;
      this.#lastEndMs = Date.now();
      this.#noteEnd(record);
    });
  }

  runningOneShots(): string[] {
    if (this.#running === 0) return [];
    const running = [...this.#records.values()].filter(
      ({ command, sessionId }) => sessionId === null && !command.endedAt,
    );
    return running.map(({ command }) => command.id);
  }

  lastEndedOf(sessionId: string): CommandRecord | undefined {
    return this.#ended.get(sessionId)?.entries.at(-1)?.record;
  }

  async forgetSession(sessionId: string): Promise<void> {
    const records = [...this.#records.values()].filter((record) => record.sessionId === sessionId);
    this.#ended.delete(sessionId);
    await Promise.all(records.map((record) => this.#forget(record)));
  }

  /** Drops the one-shots that have ended, and the others when they end; calls back when there is no command any more. */
  async leave(onEmpty: () => void): Promise<void> {
    this.#onEmpty = onEmpty;
    const oneShots = this.#ended.get('')?.entries ?? [];
    this.#ended.delete('');
    await Promise.all(oneShots.map(({ record }) => this.#forget(record)));
    if (this.#records.size === 0) onEmpty();
  }

  async clear(): Promise<void> {
    this.#ended.clear();
    await Promise.all([...this.#records.values()].map((record) => this.#forget(record)));
  }

  #noteEnd(record: CommandRecord): void {
    if (!this.#records.has(record.command.id)) return;
    if (this.#onEmpty && record.sessionId === null) {
      void this.#forget(record);
      return;
    }
    const key = record.sessionId ?? '';
    const ended = this.#ended.get(key) ?? { entries: [], bytes: 0 };
    this.#ended.set(key, ended);
    const bytes = memoryOf(record.command);
    ended.entries.push({ record, bytes });
    ended.bytes += bytes;
    while (ended.entries.length > MAX_ENDED || (ended.bytes > MAX_ENDED_BYTES && ended.entries.length > 1)) {
      const oldest = ended.entries.shift();
      if (!oldest) break;
      ended.bytes -= oldest.bytes;
      void this.#forget(oldest.record);
    }
  }

  async #forget(record: CommandRecord): Promise<void> {
    const { command } = record;
    this.#journal.remove(record);
    this.#records.delete(command.id);
    this.#forgotten.add(command.id);
    if (this.#records.size === 0) this.#onEmpty?.();
    await Promise.all([command.stdout[Symbol.asyncDispose](), command.stderr[Symbol.asyncDispose]()]);
  }
}

/** Keeps commands by owner and id: while they run, and the newest of those that have ended. */
export class CommandRegistry {
  /** All commands in the order of their acceptance. */
  readonly journal: CommandJournal;
  readonly #owners = new Map<string, OwnCommands>();
  /** The last active one of each user of the machine, by its name; '' is the daemon's. */
  readonly #departed = new Map<string, Departed>();

  /** @param node name of this node of a cluster; undefined for a daemon alone */
  constructor(node: string | undefined) {
    this.journal = new CommandJournal(node);
  }

  /**
   * Returns a command that a principal may see or use. A command that it may not see does not seem to exist.
   * @param sessionId its session; without one, the command may be of any session, or of none
   * @throws AdapterError COMMAND_NOT_FOUND; FORBIDDEN when it may only see it
   */
  get(commandId: string, principal: Principal, reach: AccessKind, sessionId?: string): CommandRecord {
    const isMeant = (found: CommandRecord) => sessionId === undefined || found.sessionId === sessionId;
    const own = this.find(commandId, principal.id);
    const record = own && isMeant(own) ? own : this.#findOthers(commandId, principal, isMeant);
    if (!record) {
      throw new AdapterError('COMMAND_NOT_FOUND', `there is no command ${commandId}, or it has ended too long ago`, {
        details: { command_id: commandId, kept_per_session: MAX_ENDED },
      });
    }
    if (reach !== 'see' && !canAccess(principal, record.owner.id, reach))
      throw forbidden(`command ${commandId}`, principal, reach);
    return record;
  }

  /**
   * Returns a command of an owner.
   * @param owner id of a principal
   */
  find(commandId: string, owner: string): CommandRecord | undefined {
    return this.#owners.get(owner)?.find(commandId);
  }

  /** The command of a session that has ended last. */
  lastEndedOf(sessionId: string, owner: string): CommandRecord | undefined {
    return this.#owners.get(owner)?.lastEndedOf(sessionId);
  }

  /** True when the owner had a command with this id whose record has been dropped. */
  hasForgotten(commandId: string, owner: string): boolean {
    return this.#owners.get(owner)?.hasForgotten(commandId) ?? false;
  }

  /** Commands without a session that run under ids that clients have chosen, with the ids of their owners. */
  runningByOwnId(): { readonly owner: string; readonly commandId: string }[] {
    return [...this.#owners].flatMap(([owner, own]) =>
      own.runningOneShots().flatMap((commandId) => (nodeOf(commandId) === undefined ? [{ owner, commandId }] : [])),
    );
  }

  /** Bytes of the output of one-shots that is kept. */
  get spoolBytes(): number {
    return [...this.#owners.values()].reduce((sum, { spoolBytes }) => sum + spoolBytes, 0);
  }

  /** What all one-shots of an owner share. */
  budgetOf(owner: Principal, maxBytes: number): SpoolBudget {
    return this.#of(owner).budget(maxBytes);
  }

  /** Adds a command; when it has ended, older ones of its owner may be dropped. */
  add(record: CommandRecord): void {
    this.#of(record.owner).add(record);
  }

  /**
   * Drops what belongs to an owner whose access has ended: at once what has ended without a session, all else when it
   * ends, or with its session.
   * @param owner id of a principal
   */
  async forgetOwner(owner: string): Promise<void> {
    const own = this.#owners.get(owner);
    await own?.leave(() => {
      if (this.#owners.get(owner) !== own) return;
      this.#owners.delete(owner);
      const { owner: principal, lastActiveMs } = own;
      const last = this.#departed.get(principal.runAs ?? '');
      if (!last || last.lastActiveMs < lastActiveMs)
        this.#departed.set(principal.runAs ?? '', { owner: principal, lastActiveMs });
    });
  }

  /**
   * Returns the other principals of the same user that have had a command running at or after a time, as far as this
   * daemon has run it.
   * @param sinceMs Unix time in milliseconds
   */
  othersActiveSince({ id, runAs }: Principal, sinceMs: number): readonly Principal[] {
    return [...this.#owners.values(), ...this.#departed.values()]
      .filter(({ owner, lastActiveMs }) => owner.id !== id && owner.runAs === runAs && lastActiveMs >= sinceMs)
      .map(({ owner }) => owner);
  }

  /** Drops the commands of an ended session, and their outputs. */
  async forgetSession(sessionId: string, owner: string): Promise<void> {
    await this.#owners.get(owner)?.forgetSession(sessionId);
  }

  async clear(): Promise<void> {
    await Promise.all([...this.#owners.values()].map((own) => own.clear()));
  }

  #of(owner: Principal): OwnCommands {
    let own = this.#owners.get(owner.id);
    if (!own) this.#owners.set(owner.id, (own = new OwnCommands(owner, this.journal)));
    return own;
  }

  #findOthers(
    commandId: string,
    principal: Principal,
    isMeant: (found: CommandRecord) => boolean,
  ): CommandRecord | undefined {
    for (const [owner, own] of this.#owners) {
      if (!canAccess(principal, owner, 'see')) continue;
      const record = own.find(commandId);
      if (record && isMeant(record)) return record;
    }
    return undefined;
  }
}

const memoryOf = ({ stdout, stderr }: CommandRecord['command']): number => stdout.memoryBytes + stderr.memoryBytes;
