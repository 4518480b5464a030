import { canAccess } from '../../core/access/principal.js';
import { ChangeTracker } from '../../core/changes/change-tracker.js';
import { describeCommand } from '../registry/command-info.js';
import type { CommandJournal } from '../registry/command-journal.js';
import type { CommandRecord } from '../registry/command-record.js';
import { type Feed, limited, type Source, type Subscriber } from './source.js';

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
