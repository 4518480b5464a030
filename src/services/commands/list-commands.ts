import { type Principal, canAccess } from '../../core/access/principal.js';
import { AdapterError } from '../../core/errors.js';
import type { Answer, Request } from '../../core/protocol/requests.js';
import { describeCommand } from '../registry/command-info.js';
import type { CommandJournal } from '../registry/command-journal.js';
import type { CommandRecord } from '../registry/command-record.js';

const DEFAULT_LIMIT = 50;

/** Lists the commands that a principal may see, the newest first. */
export function listCommands(
  journal: Pick<CommandJournal, 'newestFirst' | 'node'>,
  request: Request<'list_commands'>,
  principal: Principal,
): Answer<'list_commands'> {
  const { limit = DEFAULT_LIMIT, before } = request;
  const end = before === undefined ? Infinity : Number(before);
  if (Number.isNaN(end)) throw foreignCursor();
  const found = journal
    .newestFirst()
    .filter(([record, number]) => number < end && isWanted(record, request) && isSeen(record, principal));
  const page = found.slice(0, limit);
  return {
    commands: page.map(([record, number]) => ({ ...describeCommand(record, journal.node), number })),
    next: found.length > limit ? String(page.at(-1)?.[1]) : null,
  };
}

const foreignCursor = (): AdapterError =>
  new AdapterError('INVALID_REQUEST', 'before is of the list of a cluster, and this daemon is none', {
    details: { field: 'before' },
  });

const isSeen = ({ owner }: CommandRecord, principal: Principal): boolean => canAccess(principal, owner.id, 'see');

function isWanted(
  { command, owner, sessionId }: CommandRecord,
  { session_id: session, owner: ownerName, state }: Request<'list_commands'>,
): boolean {
  if (session !== undefined && session !== sessionId) return false;
  if (ownerName !== undefined && ownerName !== owner.name) return false;
  return state === undefined || (state === 'ended') === (command.outcome !== undefined);
}
