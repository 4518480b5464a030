import type { SessionInfo } from '../../../client/index.js';
import { isOnNode } from '../../components/nodes/nodes.js';

/** A filter of the sessions, which is on or off. */
export interface SessionFilter {
  /** Its value in the address. */
  readonly name: string;
  readonly title: string;
  readonly accepts: (session: SessionInfo, caller: string) => boolean;
}

/** The filters. Sessions have to pass all that are on. */
export const SESSION_FILTERS: readonly SessionFilter[] = [
  { name: 'busy', title: 'Busy', accepts: ({ state }) => state === 'busy' },
  { name: 'idle', title: 'Idle', accepts: ({ state }) => state === 'idle' },
  { name: 'warnings', title: 'With warnings', accepts: ({ warnings }) => warnings.length > 0 },
  { name: 'mine', title: 'Mine', accepts: ({ owner }, caller) => owner === caller },
];

/** Parses the filters that are on, as the address has them: names with commas between. */
export const parseFilters = (text = ''): ReadonlySet<string> => new Set(text.split(',').filter(Boolean));

/** The filters after a press on one of them. */
export function toggleFilter(filters: ReadonlySet<string>, name: string): string {
  const next = new Set(filters);
  if (!next.delete(name)) next.add(name);
  return [...next].join(',');
}

/** What of the sessions is shown. */
export interface SessionChoice {
  /** Names of the filters that are on. */
  readonly filters: ReadonlySet<string>;
  readonly text: string;
  /** Name of the node of a cluster; undefined for all. */
  readonly node: string | undefined;
  readonly caller: string;
}

/** The sessions of a node that pass all filters, and have a text in their label, id, owner, directory or command. */
export function filterSessions(
  sessions: Iterable<SessionInfo>,
  { filters, text, node, caller }: SessionChoice,
): SessionInfo[] {
  const active = SESSION_FILTERS.filter(({ name }) => filters.has(name));
  const wanted = text.toLowerCase();
  return [...sessions].filter(
    (session) =>
      isOnNode(session, node) &&
      active.every(({ accepts }) => accepts(session, caller)) &&
      (wanted === '' || textOf(session).includes(wanted)),
  );
}

const textOf = ({
  label,
  session_id: id,
  owner,
  working_directory: directory,
  running_command: running,
}: SessionInfo) => [label, id, owner, directory, running?.command].join('\n').toLowerCase();
