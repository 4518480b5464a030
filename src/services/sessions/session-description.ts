import type { Principal } from '../../core/principal.js';
import type { SessionInfo } from '../../core/protocol/results.js';
import type { Command } from '../../engine/command/command.js';
import type { SessionUsage } from '../limits/session-usage.js';
import { describeCommand } from '../registry/command-record.js';
import type { CommandRegistry } from '../registry/command-registry.js';
import { renderLimits } from '../registry/rendered-limits.js';
import type { SessionRecord } from '../registry/session-registry.js';
import type { SessionHealth } from './session-health.js';
import type { Sessions } from './sessions.js';

/** Describes sessions for the wire. */
export class SessionDescriptions {
  readonly #sessions: Sessions;
  readonly #usage: SessionUsage;
  readonly #health: SessionHealth;
  readonly #commands: CommandRegistry;
  /** Name of this node of a cluster; undefined for a daemon alone. */
  readonly #node: string | undefined;

  constructor(
    sessions: Sessions,
    usage: SessionUsage,
    health: SessionHealth,
    commands: CommandRegistry,
    node: string | undefined,
  ) {
    this.#sessions = sessions;
    this.#usage = usage;
    this.#health = health;
    this.#commands = commands;
    this.#node = node;
  }

  /** Describes a session as it is now. */
  describe(record: SessionRecord): SessionInfo {
    const { session, channel } = record;
    const { running } = session;
    const last = this.#commands.lastEndedOf(record.id, record.owner.id);
    return {
      session_id: record.id,
      ...(this.#node !== undefined && { node: this.#node }),
      owner: record.owner.name,
      ...(record.owner.runAs !== undefined && { run_as: record.owner.runAs }),
      label: record.label ?? null,
      shell: record.shellName,
      sandbox: record.sandbox,
      state: running ? 'busy' : 'idle',
      working_directory: session.workingDirectory,
      created_at: record.createdAt.toISOString(),
      last_used_at: record.lastUsedAt.toISOString(),
      ...this.#sessions.expiryOf(record),
      keep_while: record.keepWhile,
      cols: session.terminal.size.cols,
      rows: session.terminal.size.rows,
      running_command: running ? describeRunning(running) : null,
      queued_commands: session.queued.length,
      next_seq: channel.nextSeq,
      restarts: session.restarts,
      attached_clients: channel.followers,
      background_processes: session.backgroundProcesses,
      limits: renderLimits(record.limits),
      ...this.#usage.of(record),
      warnings: [...this.#health.warningsOf(record)],
      last_command: last ? describeCommand(last, this.#node) : null,
      observers: channel.observers,
      recording_id: record.recorder?.id ?? null,
    };
  }

  /** The values on which the description depends: while they are the same, it is the same. */
  stampOf(record: SessionRecord): readonly unknown[] {
    const { session, channel } = record;
    return [
      session.running,
      session.queued.length,
      session.workingDirectory,
      session.restarts,
      session.terminal.size.cols,
      session.terminal.size.rows,
      record.lastUsedAt,
      channel.nextSeq,
      channel.followers,
      channel.observers,
      record.recorder,
      session.backgroundProcesses.length,
      this.#usage.of(record),
      this.#health.warningsOf(record),
      this.#sessions.expiryOf(record).expires_at,
      this.#commands.lastEndedOf(record.id, record.owner.id),
    ];
  }
}

const describeRunning = ({ id, spec, acceptedAt }: Command): SessionInfo['running_command'] => ({
  command_id: id,
  command: spec.command,
  started_at: acceptedAt.toISOString(),
  tty: spec.tty,
});

/** A session that counts against the limits of a cluster. */
export interface HeldSession {
  readonly id: string;
  /** Id of its principal; undefined for one whose sessions are not limited. */
  readonly owner: string | undefined;
}

/** A session as it counts for its owner. Sessions of programs that need no token are not limited. */
export const asHeld = ({ id, owner }: { readonly id: string; readonly owner: Principal }): HeldSession => ({
  id,
  owner: owner.isLocalPeer ? undefined : owner.id,
});
