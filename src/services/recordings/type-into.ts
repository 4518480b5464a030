import type { Command } from '../../engine/command/command.js';
import type { Session } from '../../engine/session/session.js';
import type { SessionRecorder, TypedText } from './session-recorder.js';

/** A session, and what records it. */
interface RecordedSession {
  readonly session: Session;
  readonly recorder: SessionRecorder | undefined;
}

/**
 * Types into the running command of a session, and records that if the session is recorded.
 * @returns number of bytes accepted
 * @throws AdapterError INPUT_FULL; NO_RUNNING_COMMAND when the command of a recorded session has ended meanwhile
 */
export function typeInto(
  { session, recorder }: RecordedSession,
  command: Command,
  typed: TypedText,
): number | Promise<number> {
  return recorder ? recorder.type(session, command, typed) : session.terminal.type(typed.data, typed.eof);
}
