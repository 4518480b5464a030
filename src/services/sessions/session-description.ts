import type { SessionInfo } from '../../core/protocol/results.js';
import type { Command } from '../../engine/command/command.js';
import { renderLimits } from '../registry/rendered-limits.js';
import type { SessionRecord } from '../registry/session-registry.js';

/** Describes a session for the wire. */
export function describeSession(record: SessionRecord): SessionInfo {
  const { session, channel } = record;
  const { running } = session;
  return {
    session_id: record.id,
    owner: record.owner.name,
    ...(record.owner.runAs !== undefined && { run_as: record.owner.runAs }),
    label: record.label ?? null,
    shell: record.shellName,
    sandbox: record.sandbox,
    state: running ? 'busy' : 'idle',
    working_directory: session.workingDirectory,
    created_at: record.createdAt.toISOString(),
    last_used_at: record.lastUsedAt.toISOString(),
    expires_at: record.expiresAt.toISOString(),
    cols: session.size.cols,
    rows: session.size.rows,
    running_command: running ? describeRunning(running) : null,
    queued_commands: session.queued.length,
    next_seq: channel.nextSeq,
    restarts: session.restarts,
    attached_clients: channel.followers,
    background_processes: session.backgroundProcesses,
    limits: renderLimits(record.limits),
    usage: null,
    peaks: { cpu_percent: 0, memory_bytes: 0, processes: 0, written_bytes: 0 },
    warnings: [],
    last_command: null,
    observers: channel.observers,
    recording_id: record.recorder?.id ?? null,
  };
}

const describeRunning = ({ id, spec, acceptedAt }: Command): SessionInfo['running_command'] => ({
  command_id: id,
  command: spec.command,
  started_at: acceptedAt.toISOString(),
  tty: spec.tty,
});
