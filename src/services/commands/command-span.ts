import type { Request } from '../../core/protocol/requests.js';
import type { CommandSpan, Traces } from '../../core/traces/traces.js';
import type { CommandSpec } from '../../engine/command/command.js';
import type { SessionRecord } from '../registry/session-registry.js';

/** A command's span, and its variables with those of the span. */
export interface TracedCommand {
  readonly span: CommandSpan | undefined;
  readonly env: CommandSpec['env'];
}

/** Begins the span of a command. Its variables are given to the command, unless the client has set them. */
export function beginSpan(
  traces: Traces,
  { command, args, env }: Request<'execute_command'>,
  { id, session }: { readonly id: string; readonly session: Pick<SessionRecord, 'id'> | undefined },
): TracedCommand {
  const span = traces.command({ id, sessionId: session?.id, command, args });
  return { span, env: span ? { ...span.env, ...env } : env };
}
