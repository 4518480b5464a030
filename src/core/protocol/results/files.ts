import { z } from 'zod';

import { optionalTerms } from '../confirmations.js';
import { checkpointId, optional } from '../fields.js';
import { warning } from './warning.js';

/** What an answer about files has beside its own fields, when the policy had something to say. */
export const fileOutcome = {
  status: optional(z.literal('confirmation_required')).describe(
    'Nothing has been done yet, and the other fields are empty: this client has to confirm it, with `confirm_command`',
  ),
  checkpoint_id: optional(checkpointId).describe(
    'The checkpoint that was made before: restoring it undoes the request',
  ),
  warnings: optional(z.array(warning)).describe('Why no checkpoint could be made'),
  ...optionalTerms,
};

/** The answer to a request about files that was confirmed: the fields of the request's own answer. */
export const confirmedFileAnswer = z
  .looseObject({})
  .describe('Of a request about files that was confirmed: its answer');
