import { z } from 'zod';

import { optionalTerms } from '../confirmations.js';
import * as field from '../fields.js';
import { namesATarget, target, TARGET_MISSING } from './target.js';

const { optional } = field;

/** Input for a terminal. */
const typing = {
  ...target,
  data: optional(z.string()).describe('Text to type; control characters act as keys'),
  eof: optional(z.boolean()).describe('Then signal end of input'),
};

/** `send_input` for clients that can only send text. */
export const typedInput = z.strictObject(typing).refine(namesATarget, TARGET_MISSING);

/** Text for a terminal. */
export type TypedInput = z.output<typeof typedInput>;

/** The requests about the terminal of a session, and about streamed input. */
export const terminalRequests = {
  send_input: {
    summary: 'Types into the terminal of a running command, or feeds its streamed standard input.',
    input: z
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
    output: z.object({
      accepted_bytes: z.int().describe('0 when it has to be confirmed first'),
      stdin_bytes: optional(z.int()).describe('Of a streamed input: bytes taken since its beginning'),
      stdin_closed: optional(z.boolean()).describe(
        'Of a streamed input: true when the command reads no more. Stop sending',
      ),
      status: optional(z.enum(['confirmation_required'])).describe('There when it has to be confirmed first'),
      ...optionalTerms,
    }),
  },
  resize_terminal: {
    summary: 'Sets the size of the session’s terminal.',
    input: z.strictObject({ session_id: field.sessionId, cols: field.terminalCells, rows: field.terminalCells }),
    output: z.object({ cols: field.terminalCells, rows: field.terminalCells }),
  },
} as const;
