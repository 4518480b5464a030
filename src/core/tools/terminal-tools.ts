import { z } from 'zod';

import * as field from '../protocol/fields.js';
import { waitingRequests } from '../protocol/requests/waiting.js';
import { defineTool, LOOKS, type Tool } from './tool.js';

const { optional } = field;
const wait = waitingRequests.wait_for.input.shape;

/** The tools to wait for what commands do, and to look at terminals. */
export const TERMINAL_TOOLS: readonly Tool[] = [
  defineTool({
    request: 'wait_for',
    title: 'Wait for something',
    description:
      'Waits for the first that comes: a port that listens, a path that exists, a pattern in the output of a command or its end, a ' +
      'text on a screen or a screen that is still. Gives `condition`, and of a screen what it shows.',
    input: z.strictObject({
      session_id: optional(field.sessionId).describe('Of a port, path or screen: in this session'),
      command_id: optional(field.commandId).describe('Until it has ended, or as the other arguments say'),
      port: wait.port,
      path: optional(field.textWithoutNul('a path').min(1)).describe('Until it exists'),
      pattern: optional(z.string()).describe('Until the command has printed this, within one line'),
      screen_text: optional(z.string()).describe('Until the screen shows this, within one line'),
      screen_stable_ms: optional(z.int()).describe('Until the screen has not changed for this time'),
      regex: optional(z.boolean()).describe('Whether pattern and screen_text are regular expressions of RE2'),
      timeout_ms: optional(z.int().min(0)).describe('How long to wait, in milliseconds; 30000 by default'),
    }),
    hints: LOOKS,
    toPayload: (args) => args,
  }),
  defineTool({
    request: 'read_screen',
    title: 'Look at a terminal',
    description:
      'Gives what the terminal of a command shows: of a command that was run with `tty`. Act on it by type_input with `keys`, ' +
      'then wait_for what changes.',
    input: z
      .strictObject({
        session_id: optional(field.sessionId).describe('Id of a session: what runs in it; or give command_id'),
        command_id: optional(field.commandId).describe('Id of a command'),
      })
      .refine(({ session_id, command_id }) => session_id !== undefined || command_id !== undefined, {
        error: 'give session_id or command_id',
        path: ['session_id'],
      }),
    hints: LOOKS,
    toPayload: (args) => args,
  }),
  defineTool({
    request: 'list_ports',
    title: 'List ports',
    description: 'Lists the TCP ports on which processes of your sessions listen, with process and command.',
    input: z.strictObject({ session_id: optional(field.sessionId).describe('Only of this session') }),
    hints: LOOKS,
    toPayload: (args) => args,
  }),
];
