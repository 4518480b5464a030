import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { z } from 'zod';

import { CONFIRMATION_MODES } from '../../core/confirmation/modes.js';
import type { RememberedApproval } from '../../core/confirmation/remembered.js';
import { findRuleProblem } from '../../core/confirmation/remembered-rule.js';
import { AdapterError } from '../../core/errors.js';
import type { TestedRule } from '../../core/policy/decision/rule-tests.js';
import { COMMAND_CLASSES } from '../../core/policy/model/classes.js';
import { writePrivateFile } from '../../engine/system/private-file.js';

/** An approval of the scope `always`, with its rule. */
export interface StoredApproval extends RememberedApproval {
  readonly scope: 'always';
  readonly rule: TestedRule;
}

/** Version of the format. */
const VERSION = 1;

const party = z.strictObject({ id: z.string(), name: z.string() });
const texts = z.array(z.string());

const storedApproval = z.strictObject({
  id: z.string(),
  requested_by: party,
  approved_by: party,
  mode: z.enum(CONFIRMATION_MODES),
  remembered_at: z.iso.datetime(),
  directory: z.string(),
  pattern: z.string(),
  rule: z.strictObject({
    action: z.literal('allow'),
    program: texts,
    regex: z.string(),
    path: z.exactOptional(texts),
    match: texts,
    not_match: texts,
    reason: z.string(),
  }),
  form: z.string(),
  reasons: texts,
  classes: z.array(z.enum(COMMAND_CLASSES)),
});

const storedApprovals = z.strictObject({ version: z.literal(VERSION), approvals: z.array(storedApproval) });

/** Path of the file with approvals of the scope `always` within the state directory. */
export const approvalFileIn = (stateDirectory: string): string => join(stateDirectory, 'approvals.json');

/** Content of the file: approvals, or the problem because of which none of them counts. */
export interface StoredApprovals {
  readonly approvals: readonly StoredApproval[];
  readonly problem: string | undefined;
}

/** Reads the file and runs the tests of its rules. A missing file contains none. */
export function readApprovals(file: string): StoredApprovals {
  const damaged = (problem: string) => ({ approvals: [], problem: `${file}: ${problem}` });
  try {
    if ((statSync(file).mode & 0o077) !== 0) return damaged('other users can read or change it: chmod 600 is needed');
    const read = storedApprovals.safeParse(JSON.parse(readFileSync(file, 'utf8')));
    if (!read.success) return damaged(`is damaged: ${z.prettifyError(read.error)}`);
    const approvals = read.data.approvals.map(fromStored);
    for (const { id, rule, directory } of approvals) {
      const problem = findRuleProblem(rule, directory);
      if (problem !== undefined) return damaged(`the approval ${id} is damaged: ${problem}`);
    }
    return { approvals, problem: undefined };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { approvals: [], problem: undefined };
    // Invalid JSON, or an unreadable file: the message says which.
    return damaged(`is damaged: ${(error as Error).message}`);
  }
}

/**
 * Writes the file, readable by this user only; it appears complete or not at all.
 * @throws AdapterError APPROVALS_UNAVAILABLE when it cannot be written
 */
export function writeApprovals(file: string, approvals: readonly StoredApproval[]): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writePrivateFile(file, `${JSON.stringify({ version: VERSION, approvals: approvals.map(toStored) }, null, 2)}\n`);
  } catch (error) {
    const message = `remembered approvals cannot be written to ${file}: ${(error as Error).message}`;
    throw new AdapterError('APPROVALS_UNAVAILABLE', message, { cause: error, details: { file } });
  }
}

const fromStored = (stored: z.output<typeof storedApproval>): StoredApproval => ({
  ...stored,
  scope: 'always',
  requester: stored.requested_by,
  approver: stored.approved_by,
  sessionId: null,
  rememberedAt: new Date(stored.remembered_at),
  expiresAt: null,
});

const toStored = (approval: StoredApproval): z.input<typeof storedApproval> => ({
  id: approval.id,
  requested_by: approval.requester,
  approved_by: approval.approver,
  mode: approval.mode,
  remembered_at: approval.rememberedAt.toISOString(),
  directory: approval.directory,
  pattern: approval.pattern,
  rule: storedApproval.shape.rule.parse(approval.rule),
  form: approval.form,
  reasons: [...approval.reasons],
  classes: [...approval.classes],
});
