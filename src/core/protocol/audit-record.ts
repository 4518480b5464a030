import { z } from 'zod';

import { timestamp } from './fields.js';

/** Number of an audit record, from 1 on. */
export const sequence = z.int().min(1);

/** A record of the audit log in wire format: as in the file, with the fields of its event. */
export const auditRecord = z.looseObject({
  seq: sequence.describe('Number of the record; they have no gaps'),
  time: timestamp,
  event: z.string(),
  prev: z.string().describe('Hash of the record before it'),
  hash: z.string(),
});
