import { z } from 'zod';

import { MAX_RESULT_CHARACTERS } from './bounds.js';
import { optional } from './fields.js';

/** Options for returning the output of a command, or a patch. */
export const outputOptions = z
  .strictObject({
    max_size: optional(z.int().min(0).max(MAX_RESULT_CHARACTERS)).describe(
      'Most characters of each stream in the result',
    ),
    begin_size: optional(z.int().min(0)).describe('Characters kept from the beginning of a longer output'),
    end_size: optional(z.int().min(0)).describe('Characters kept from its end'),
    max_lines: optional(z.int().min(0).max(MAX_RESULT_CHARACTERS)).describe(
      'Most lines; by default `begin_lines` and `end_lines` together',
    ),
    begin_lines: optional(z.int().min(0)).describe('Lines kept from the beginning of a longer output'),
    end_lines: optional(z.int().min(0)).describe('Lines kept from its end'),
    max_line_length: optional(z.int().min(1).max(MAX_RESULT_CHARACTERS)).describe(
      'Characters after which a line is cut and ends in `…`',
    ),
    encoding: optional(z.enum(['utf8', 'base64'])).describe('`base64` gives the exact bytes'),
    strip_ansi: optional(z.boolean()).describe('Leave out ANSI escape sequences'),
    collapse_cr: optional(z.boolean()).describe('Show lines overwritten by carriage returns as they end up'),
  })
  .describe('How output is returned; the defaults are the configuration’s');

/** Options for the output of a command. */
export const commandOutputOptions = outputOptions
  .extend({
    merge: optional(z.boolean()).describe(
      'Give both streams one pipe: everything is stdout, in the exact order in which it was written',
    ),
  })
  .describe('How output is returned; the defaults are the configuration’s');
