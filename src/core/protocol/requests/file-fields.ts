import { z } from 'zod';

import { ENTRY_TYPES, MAX_PATH_LENGTH } from '../../file-edit.js';
import * as field from '../fields.js';

const { optional } = field;

/** A path of a file as its session sees it. */
export const filePath = field
  .textWithoutNul('a path')
  .min(1)
  .max(MAX_PATH_LENGTH)
  .describe('Absolute, or relative to the directory of the session; without a session, to the workspace');

/** The session of a request about files. */
export const inSession = optional(field.sessionId).describe(
  'The session whose directory, sandbox and user count; by default those of a command without a session',
);

/** Time of a change. */
export const mtime = z.number().describe('When the content was changed last, in milliseconds since 1970');

/** Kind of an entry. */
export const entryType = z.enum(ENTRY_TYPES).describe('`other`: a pipe, a socket or a device');
