import { AdapterError } from '../core/errors.js';
import type { CommandRecord } from './command-record.js';

/** Ended commands that are remembered, for each session and for all one-shots together. */
const MAX_ENDED = 256;
/** Dropped ids that are remembered: enough for hours of busy clients, about 1 MB. */
const MAX_FORGOTTEN = 10_000;
/** Bytes of memory that their outputs may hold on to, likewise. */
const MAX_ENDED_BYTES = 2 * 1024 * 1024;

/** Commands that have ended, oldest first, and the memory that their outputs take. */
interface EndedCommands {
  readonly entries: { readonly record: CommandRecord; readonly bytes: number }[];
  bytes: number;
}

/** Remembers commands by id: while they run, and the newest of those that have ended. */
export class CommandRegistry {
  readonly #records = new Map<string, CommandRecord>();
  /** Ids of commands that were dropped: one of them must not run a second time. Oldest first. */
  readonly #forgotten = new Set<string>();
  /** Ended commands by session ('' for one-shots), oldest first. */
  readonly #ended = new Map<string, EndedCommands>();

  /** @throws AdapterError COMMAND_NOT_FOUND */
  get(commandId: string): CommandRecord {
    const record = this.find(commandId);
    if (record) return record;
    throw new AdapterError('COMMAND_NOT_FOUND', `there is no command ${commandId}, or it has ended too long ago`, {
      details: { command_id: commandId, kept_per_session: MAX_ENDED },
    });
  }

  find(commandId: string): CommandRecord | undefined {
    return this.#records.get(commandId);
  }

  /** Whether there was such a command whose record has been dropped. */
  hasForgotten(commandId: string): boolean {
    return this.#forgotten.has(commandId);
  }

  /** Remembers a command; when it has ended, older ones make room for it. */
  add(record: CommandRecord): void {
    this.#records.set(record.command.id, record);
    // After the answer has gone out: nobody waits for what this forgets.
    void record.command.finished.then(() => {
      setImmediate(() => {
        this.#noteEnd(record);
      });
    });
  }

  /** Forgets the commands of a session that has ended, and their outputs. */
  async forgetSession(sessionId: string): Promise<void> {
    const records = [...this.#records.values()].filter((record) => record.sessionId === sessionId);
    this.#ended.delete(sessionId);
    await Promise.all(records.map((record) => this.#forget(record)));
  }

  /** Forgets everything. */
  async clear(): Promise<void> {
    this.#ended.clear();
    await Promise.all([...this.#records.values()].map((record) => this.#forget(record)));
  }

  #noteEnd(record: CommandRecord): void {
    if (!this.#records.has(record.command.id)) return;
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

  async #forget({ command }: CommandRecord): Promise<void> {
    this.#records.delete(command.id);
    this.#forgotten.add(command.id);
    for (const id of this.#forgotten) {
      if (this.#forgotten.size <= MAX_FORGOTTEN) break;
      this.#forgotten.delete(id);
    }
    await Promise.all([command.stdout.spool[Symbol.asyncDispose](), command.stderr.spool[Symbol.asyncDispose]()]);
  }
}

const memoryOf = ({ stdout, stderr }: CommandRecord['command']): number => stdout.memoryBytes + stderr.memoryBytes;
