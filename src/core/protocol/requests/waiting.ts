import { z } from 'zod';

import { MAX_PORT, MAX_STABLE_MS, MAX_WAIT_MS, MIN_STABLE_MS } from '../bounds.js';
import { defineRequests } from '../define-requests.js';
import * as field from '../fields.js';
import { shownScreen } from './terminal.js';
import { onNode, unreachable } from './nodes.js';

const { filePath, optional } = field;

/** The requests that wait for something, and what they wait for. */
export const waitingRequests = defineRequests({
  wait_for: {
    summary:
      'Waits for a port, a file, a text in an output or on a screen, or the end of a command: for the first that comes.',
    role: 'agent',
    recorded: 'refusals',
    route: { object: 'command_id', otherwise: 'workspace' },
    repeat: 'safe',
    isLong: true,
    example: { command_id: 'command_ID', pattern: 'listening on', port: 8080, timeout_ms: 20_000 },
    input: () =>
      z
        .strictObject({
          node: onNode,
          session_id: optional(field.sessionId).describe(
            'Of a port: listening in this session, instead of on the machine. Of a path: as this session sees it. Of a screen: of the command that runs in it, or ran last',
          ),
          port: optional(z.int().min(1).max(MAX_PORT)).describe('Until something listens on this TCP port'),
          path: optional(filePath).describe('Until this file or directory exists'),
          command_id: optional(field.commandId).describe('Until this command has ended, or has printed `pattern`'),
          pattern: optional(z.string().min(1).max(field.MAX_PATTERN_LENGTH)).describe(
            'Until the command has printed this, within one line',
          ),
          regex: optional(z.boolean()).describe(
            'Whether `pattern` and `screen_text` are regular expressions of [RE2](https://github.com/google/re2/wiki/Syntax)',
          ),
          stream: optional(field.outputStream).describe('Of `pattern`: stdout by default'),
          from_offset: optional(z.int().min(0)).describe('Of `pattern`: where to begin, in bytes; 0 by default'),
          screen_text: optional(z.string().min(1).max(field.MAX_PATTERN_LENGTH)).describe(
            'Until the screen shows this, within one line; of `command_id`, or of what runs in the session',
          ),
          screen_stable_ms: optional(z.int().min(MIN_STABLE_MS).max(MAX_STABLE_MS)).describe(
            'Until nothing on the screen has changed for this time, which begins with the request',
          ),
          timeout_ms: optional(z.int().min(0).max(MAX_WAIT_MS)).describe('How long to wait; 30000 by default'),
        })
        .refine(waitsForSomething, {
          error: 'give port, path, command_id, or a session_id with screen_text or screen_stable_ms',
          path: ['port'],
        })
        .refine(hasTerminal, {
          error: 'is about the screen of a terminal: give session_id or command_id',
          path: ['screen_text'],
        })
        .refine(hasCommand, { error: 'is searched in the output of a command: give command_id', path: ['pattern'] }),
    output: () =>
      z.object({
        met: z.boolean().describe('Whether one of them has come'),
        condition: z
          .enum(['port', 'path', 'pattern', 'screen_text', 'screen_stable', 'end'])
          .nullable()
          .describe(
            'Which; `end` of a command without its `pattern` or `screen_text` is not what was waited for. Null after the time-out',
          ),
        waited_ms: z.int(),
        match: optional(
          z.object({
            offset: z.int().describe('Where the line begins, in bytes'),
            line: z.int().describe('Number of the line, from 1 for the one at `from_offset`'),
            text: z.string(),
          }),
        ).describe('The line with the pattern'),
        screen: optional(z.object(shownScreen)).describe('What the screen shows, when that was waited for'),
        exit_code: optional(z.int()).describe('Of a command that has ended'),
      }),
  },
  list_ports: {
    summary: 'Lists the TCP ports on which processes of sessions listen.',
    role: 'viewer',
    recorded: 'refusals',
    route: 'gather',
    merged: { ports: 'joined' },
    repeat: 'safe',
    example: { session_id: 'session_ID' },
    input: () =>
      z.strictObject({
        session_id: optional(field.sessionId).describe(
          'Only of this session; by default of all that the client may see',
        ),
      }),
    output: () =>
      z.object({
        ports: z.array(
          z.object({
            port: z.int(),
            address: z.string().describe('On which it listens: `0.0.0.0` and `::` are all addresses'),
            session_id: field.sessionId,
            pid: z.int().describe('Process id, as the session sees it'),
            command: z.string().describe('Command line, at most 200 characters'),
            on_machine: z
              .boolean()
              .describe('Whether the machine can connect to it; a sandbox may have its own network'),
          }),
        ),
        unreachable,
      }),
  },
  preview_port: {
    summary: 'Gives the path under which the daemon passes HTTP and WebSocket on to a port of a session.',
    role: 'agent',
    recorded: 'each',
    route: 'session',
    repeat: 'safe',
    example: { session_id: 'session_ID', port: 3000 },
    input: () =>
      z.strictObject({
        session_id: field.sessionId,
        port: z.int().min(1).max(MAX_PORT).describe('TCP port on which a process of the session listens'),
      }),
    output: () =>
      z.object({
        session_id: field.sessionId,
        port: z.int(),
        path: z.string().describe('Path on the port of the daemon; requests to it need the same token'),
        address: z.string().describe('Where the daemon connects to'),
        pid: z.int().describe('Process id of the program, as the session sees it'),
        command: z.string().describe('Its command line, at most 200 characters'),
      }),
  },
});

interface Conditions {
  readonly session_id?: string | undefined;
  readonly port?: number | undefined;
  readonly path?: string | undefined;
  readonly command_id?: string | undefined;
  readonly pattern?: string | undefined;
  readonly screen_text?: string | undefined;
  readonly screen_stable_ms?: number | undefined;
}

function waitsForSomething({ port, path, command_id, ...screen }: Conditions): boolean {
  return port !== undefined || path !== undefined || command_id !== undefined || hasScreen(screen);
}

function hasTerminal({ session_id, command_id, ...screen }: Conditions): boolean {
  return !hasScreen(screen) || session_id !== undefined || command_id !== undefined;
}

function hasCommand({ command_id, pattern }: Conditions): boolean {
  return pattern === undefined || command_id !== undefined;
}

const hasScreen = ({ screen_text, screen_stable_ms }: Conditions): boolean =>
  screen_text !== undefined || screen_stable_ms !== undefined;
