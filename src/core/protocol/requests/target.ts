import * as field from '../fields.js';

const { optional } = field;

/** Target of a request: a command by its id, or the command that runs in a session. */
export const target = {
  session_id: optional(field.sessionId),
  command_id: optional(field.commandId),
};

/** The session of a command that a request names by its id. */
export const sessionOfCommand = optional(field.sessionId).describe(
  'The session of the command: with that of another one, there is no such command. In a cluster, a command whose id a client has chosen is asked of the node of its session alone',
);

/** Whether a request has a target. */
export const namesATarget = (request: { session_id?: string | undefined; command_id?: string | undefined }): boolean =>
  request.session_id !== undefined || request.command_id !== undefined;

/** The problem of a request without one. */
export const TARGET_MISSING = { error: 'give session_id or command_id', path: ['session_id'] };
