import { z } from 'zod';

import { defineRequests } from '../define-requests.js';
import { confirmationInfo, confirmationTerms, justification, rememberedInfo, rememberScope } from '../confirmations.js';
import * as field from '../fields.js';
import { commandResult } from '../results.js';
import { unreachable } from './nodes.js';

const { optional } = field;

/** The requests about confirmations. */
export const confirmationRequests = defineRequests({
  confirm_command: {
    summary: 'Approves or rejects a confirmation: the command is run, the input is typed, or neither.',
    role: 'agent',
    recorded: 'each',
    route: { object: 'confirmation_id' },
    repeat: 'never',
    isLong: true,
    example: {
      confirmation_id: 'confirmation_ID',
      decision: 'approve',
      command_sha256: 'd2264a21fbf6b8f8f3d9b4ee2ba6a1d3b0c16a7e6a3dca6ad7d5c1a1b8a3c0de',
      justification: 'the build directory is built again by make',
    },
    input: () =>
      z
        .strictObject({
          confirmation_id: field.confirmationId,
          decision: z.enum(['approve', 'reject']).describe('`approve` has it done, `reject` has it not done'),
          command_sha256: optional(confirmationTerms.command_sha256).describe(
            'Of what is meant; required to approve what one has asked for oneself. Another one is refused',
          ),
          justification: optional(justification),
          remember: optional(rememberScope).describe(
            'Only with `approve`: the approval also counts for the same command later; `always` needs a token of an operator or admin',
          ),
        })
        .refine(({ decision, remember }) => decision === 'approve' || remember === undefined, {
          error: 'only an approval can be remembered',
          path: ['remember'],
        }),
    output: () => commandResult,
  },
  list_confirmations: {
    summary: 'Lists the open confirmations that this client has caused or may decide.',
    role: 'agent',
    recorded: 'refusals',
    route: 'gather',
    merged: { confirmations: { oldestFirst: 'requested_at' } },
    repeat: 'safe',
    example: {},
    input: () => z.strictObject({}),
    output: () => z.object({ confirmations: z.array(confirmationInfo), unreachable }),
  },
  list_remembered_approvals: {
    summary:
      'Lists the approvals that are remembered for commands of this client; for operators, those of all clients.',
    role: 'agent',
    recorded: 'refusals',
    route: 'gather',
    merged: { approvals: 'joined', problem: 'first' },
    isShared: true,
    repeat: 'safe',
    example: {},
    input: () => z.strictObject({}),
    output: () =>
      z.object({
        approvals: z.array(rememberedInfo),
        problem: z
          .string()
          .nullable()
          .describe('Why approvals of the scope `always` do not count: their file is damaged'),
        unreachable,
      }),
  },
  revoke_remembered_approval: {
    summary: 'Revokes a remembered approval: such commands have to be confirmed again.',
    role: 'agent',
    recorded: 'each',
    route: { object: 'id' },
    repeat: 'never',
    example: { id: 'approval_ID' },
    input: () => z.strictObject({ id: field.approvalId }),
    output: () => z.object({ revoked: rememberedInfo }),
  },
});
