import { z } from 'zod';

import { KEY_NAMES } from '../../keys.js';
import { defineRequests } from '../define-requests.js';
import { optionalTerms } from '../confirmations.js';
import * as field from '../fields.js';

const { namesATarget, optional, target, TARGET_MISSING } = field;

/** Most keys of a request. */
const MAX_KEYS = 1000;
const MAX_KEY_CHARACTERS = 20;

/** A character of a screen. */
const screenCell = z.object({
  text: z.string(),
  width: z.int().describe('Columns: 2 for a wide character, 0 for the place behind one'),
  fg: optional(z.union([z.int(), z.string()])).describe(
    'Colour: of the palette, or `#rrggbb`; by default the terminal’s',
  ),
  bg: optional(z.union([z.int(), z.string()])).describe('Colour behind it'),
  bold: optional(z.literal(true)),
  dim: optional(z.literal(true)),
  italic: optional(z.literal(true)),
  underline: optional(z.literal(true)),
  inverse: optional(z.literal(true)),
  strikethrough: optional(z.literal(true)),
});

/** What a terminal shows. */
export const shownScreen = {
  text: z.string().describe('The lines, without spaces at their ends and empty lines at the end'),
  rows: field.terminalCells,
  cols: field.terminalCells,
  cursor: z.object({ row: z.int(), col: z.int() }).describe('Where the cursor is, from 1'),
  alternate: z.boolean().describe('Whether a full-screen program shows its own screen'),
} as const;

/** Input for a terminal. */
const typing = {
  ...target,
  data: optional(z.string()).describe('Text to type; control characters act as keys'),
  keys: optional(z.array(z.string().min(1).max(MAX_KEY_CHARACTERS)).max(MAX_KEYS)).describe(
    `Keys to press after \`data\`: single characters, or \`${KEY_NAMES.join('`, `')}\`, with \`C-\`, \`M-\` or \`S-\` in front: \`C-c\``,
  ),
  eof: optional(z.boolean()).describe('Then signal end of input'),
};

/** Text for a terminal. */
export type TypedInput = z.output<z.ZodObject<typeof typing>>;

/** The requests about the terminal of a session, and about streamed input. */
export const terminalRequests = defineRequests({
  send_input: {
    summary: 'Types into the terminal of a running command, or feeds its streamed standard input.',
    role: 'agent',
    recorded: 'each',
    route: { object: 'command_id' },
    repeat: 'never',
    noSink: true,
    isLong: true,
    example: { session_id: 'session_ID', data: 'yes\n' },
    input: () =>
      z
        .strictObject({
          ...typing,
          data: optional(z.union([z.string(), field.bytes])).describe(
            'Text to type; control characters act as keys. Bytes for a streamed input only',
          ),
          offset: optional(z.int().min(0)).describe(
            'For a streamed input: the position of `data` in it, in bytes. What was taken before is skipped, so the request can be repeated',
          ),
        })
        .refine(namesATarget, TARGET_MISSING),
    output: () =>
      z.object({
        accepted_bytes: z.int().describe('0 when it has to be confirmed first'),
        stdin_bytes: optional(z.int()).describe('Of a streamed input: bytes taken since its beginning'),
        stdin_closed: optional(z.boolean()).describe(
          'Of a streamed input: true when the command reads no more. Stop sending',
        ),
        status: optional(z.enum(['confirmation_required'])).describe('There when it has to be confirmed first'),
        ...optionalTerms,
      }),
  },
  read_screen: {
    summary: 'Gives what the terminal of a command shows, as a person would see it.',
    role: 'viewer',
    recorded: 'refusals',
    route: { object: 'command_id' },
    repeat: 'safe',
    example: { session_id: 'session_ID' },
    input: () =>
      z
        .strictObject({
          ...target,
          cells: optional(z.boolean()).describe('Also each character with its colours and attributes'),
        })
        .refine(namesATarget, TARGET_MISSING),
    output: () =>
      z.object({
        command_id: field.commandId,
        running: z.boolean().describe('False when the command has ended: its last screen'),
        ...shownScreen,
        cells: optional(z.array(z.array(screenCell))).describe('Row by row'),
      }),
  },
  resize_terminal: {
    summary: 'Sets the size of the session’s terminal.',
    role: 'agent',
    recorded: 'each',
    route: 'session',
    repeat: 'safe',
    example: { session_id: 'session_ID', cols: 120, rows: 40 },
    input: () => z.strictObject({ session_id: field.sessionId, cols: field.terminalCells, rows: field.terminalCells }),
    output: () => z.object({ cols: field.terminalCells, rows: field.terminalCells }),
  },
});
