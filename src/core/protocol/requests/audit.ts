import { z } from 'zod';

import { defineRequests } from '../define-requests.js';
import { auditRecord, sequence } from '../shapes.js';
import * as field from '../fields.js';
import { ofNode } from './nodes.js';

const { optional } = field;

/** Longest name, id or text that records are searched for, in characters. */
const MAX_QUERY_LENGTH = 256;

/** Most records of one answer. */
const MAX_RECORDS = 500;

const condition = (meaning: string) => optional(z.string().min(1).max(MAX_QUERY_LENGTH)).describe(meaning);

/** The requests about the audit log. */
export const auditRequests = defineRequests({
  read_audit: {
    summary: 'Returns records of the audit log, the newest first.',
    role: 'operator',
    recorded: 'refusals',
    route: 'machine',
    isShared: true,
    repeat: 'safe',
    example: { event: 'command_ended', principal: 'ci', limit: 50 },
    input: () =>
      z.strictObject({
        node: ofNode,
        before: optional(sequence).describe('Only records with a lower `seq`; the newest by default'),
        limit: optional(z.int().min(1).max(MAX_RECORDS)).describe('Most records to return; 100 by default'),
        event: condition('Name of an event, see [Audit](../operate/audit-and-secrets.md)'),
        principal: condition('Name or id of a token; `local` without one'),
        session_id: optional(field.sessionId),
        command_id: optional(field.commandId),
        text: condition('A text anywhere in the record, whatever its case'),
        since: optional(field.timestamp).describe('Only records from this time on'),
        until: optional(field.timestamp).describe('Only records up to this time'),
      }),
    output: () =>
      z.object({
        records: z.array(auditRecord).describe('As in the file, with the fields of the event'),
        next: sequence
          .nullable()
          .describe(
            '`before` of the request for older records, even if this answer has none; null at the end of the log',
          ),
        unreadable: z.int().describe('Lines that are no record as it was written; `verify_audit` says where'),
      }),
  },
  verify_audit: {
    summary: 'Verifies the hash chain of the audit log. A finding is kept for 30 seconds.',
    role: 'operator',
    recorded: 'refusals',
    route: 'machine',
    isShared: true,
    repeat: 'safe',
    example: {},
    input: () => z.strictObject({ node: ofNode }),
    output: () =>
      z.object({
        ok: z.boolean(),
        records: z.int(),
        from: sequence.nullable().describe('`seq` of the first record; above 1 when older files were deleted'),
        to: sequence.nullable().describe('`seq` of the last valid record'),
        problems: z.array(z.string()).describe('The first break of the chain, and gaps that indicate manipulation'),
        checked_at: field.timestamp,
      }),
  },
});
