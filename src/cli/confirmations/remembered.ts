import type { RememberedInfo } from '../../client/index.js';
import { withDaemon } from '../connect/with-daemon.js';
import { alignColumns, formatSpan, onOneLine } from '../console/style.js';
import type { Context } from '../console/context.js';
import type { ListOptions } from './confirmations.js';

/** Longest cell of the table, in characters. */
const MAX_CELL = 40;

/** Prints the remembered approvals, and a problem with their file on stderr. */
export async function listRemembered(context: Context, { json, ...options }: ListOptions): Promise<void> {
  const answer = await withDaemon(options, context, (client) => client.rememberedApprovals());
  const text = json === true ? JSON.stringify(answer, null, 2) : renderTable(answer.approvals, Date.now());
  await context.stdout.write(`${text}\n`);
  if (answer.problem !== null && json !== true)
    await context.stderr.write(`shell-adapter: approvals of the scope always do not count: ${answer.problem}\n`);
}

/** Revokes a remembered approval. */
export async function revokeRemembered(context: Context, id: string, { json, ...options }: ListOptions): Promise<void> {
  const revoked = await withDaemon(options, context, (client) => client.revokeApproval(id));
  const text =
    json === true ? JSON.stringify({ revoked }, null, 2) : `revoked ${id}: ${onOneLine(revoked.pattern, Infinity)}`;
  await context.stdout.write(`${text}\n`);
}

function renderTable(approvals: readonly RememberedInfo[], now: number): string {
  if (approvals.length === 0) return 'No approval is remembered.';
  const rows = approvals.map((approval) => {
    const left = approval.expires_at === null ? '-' : formatSpan(Date.parse(approval.expires_at) - now);
    const cells = [approval.requested_by, approval.approved_by, approval.working_directory].map((cell) =>
      onOneLine(cell, MAX_CELL),
    );
    return [approval.id, approval.scope, left, ...cells, onOneLine(approval.pattern, Infinity)];
  });
  return alignColumns([['APPROVAL', 'SCOPE', 'LEFT', 'FOR', 'APPROVED BY', 'DIRECTORY', 'COMMAND'], ...rows]).join(
    '\n',
  );
}
