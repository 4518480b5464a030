import { type CommandInfo, MAX_LISTED_COMMAND } from '../../core/protocol/results.js';
import type { Command } from '../../engine/command/command.js';
import { killOf } from '../../engine/command/outcome.js';
import { type CommandRecord, soFar } from './command-record.js';
import { renderKill, renderUse } from './rendered-limits.js';

/**
 * Describes a command without its output, for lists and events.
 * @param node name of this node of a cluster; undefined for a daemon alone
 */
export function describeCommand(record: CommandRecord, node: string | undefined): CommandInfo {
  const { command, owner, sessionId, warnings } = record;
  const { spec, stdout, stderr, startedAt, endedAt } = command;
  const outcome = command.outcome ?? soFar(command);
  const kill = killOf(outcome);
  return {
    command_id: command.id,
    session_id: sessionId,
    ...(node !== undefined && { node }),
    owner: owner.name,
    command: spec.command.slice(0, MAX_LISTED_COMMAND),
    ...(spec.args && { args: shortened(spec.args) }),
    state: stateOf(command),
    status: outcome.status,
    exit_code: outcome.exitCode,
    signal: outcome.signal,
    killed_by: outcome.killedBy,
    limit: kill ? renderKill(kill) : null,
    accepted_at: command.acceptedAt.toISOString(),
    started_at: timeOf(startedAt),
    ended_at: timeOf(endedAt),
    duration_ms: Math.round(outcome.durationMs),
    working_directory: outcome.workingDirectory ?? spec.cwd ?? null,
    stdout_bytes: stdout.bytes,
    stderr_bytes: stderr.bytes,
    tty: spec.tty,
    ...admissionOf(record),
    resource_usage: renderUse(outcome.use),
    warnings: [...warnings, ...outcome.warnings],
  };
}

/** What is known of the admission of a command. */
const admissionOf = ({ commandClass, confirmationId, checkpointId }: CommandRecord) => ({
  ...(commandClass !== undefined && { class: commandClass }),
  ...(confirmationId !== undefined && { confirmation_id: confirmationId }),
  ...(checkpointId !== undefined && { checkpoint_id: checkpointId }),
});

const timeOf = (time: Date | undefined): string | null => time?.toISOString() ?? null;

function stateOf({ outcome, hasStarted }: Command): CommandInfo['state'] {
  if (outcome) return 'ended';
  return hasStarted ? 'running' : 'queued';
}

/** The first arguments, up to the length of a listed command. */
function shortened(args: readonly string[]): string[] {
  const kept: string[] = [];
  let left = MAX_LISTED_COMMAND;
  for (const arg of args) {
    if (left <= 0) break;
    kept.push(arg.slice(0, left));
    left -= arg.length + 1;
  }
  return kept;
}
