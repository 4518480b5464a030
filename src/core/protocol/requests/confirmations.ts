import { z } from 'zod';

import { confirmationInfo, confirmationTerms, justification } from '../confirmations.js';
import * as field from '../fields.js';
import { commandResult } from '../results.js';

const { optional } = field;

/** The requests about confirmations. */
export const confirmationRequests = {
  confirm_command: {
    summary: 'Approves or rejects a confirmation: the command is run, the input is typed, or neither.',
    input: z.strictObject({
      confirmation_id: field.confirmationId,
      decision: z.enum(['approve', 'reject']).describe('`approve` has it done, `reject` has it not done'),
      command_sha256: optional(confirmationTerms.command_sha256).describe(
        'Of what is meant; required to approve what one has asked for oneself. Another one is refused',
      ),
      justification: optional(justification),
    }),
    output: commandResult,
  },
  list_confirmations: {
    summary: 'Lists the open confirmations that this client has caused or may decide.',
    input: z.strictObject({}),
    output: z.object({ confirmations: z.array(confirmationInfo) }),
  },
} as const;
