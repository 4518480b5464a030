import type { JSX } from 'preact';

import { useDashboard } from '../state/context.js';
import type { Dashboard } from '../state/dashboard.js';
import { useAnswer } from '../state/use-answer.js';
import type { Node } from '../state/wire.js';
import type { Column } from './data-table.js';

/** What of a cluster a page can choose from. */
export interface ClusterNodes {
  /** Name of the node that the page is connected to. */
  readonly own: string;
  /** Names of the nodes that run sessions, as far as this role may know them. */
  readonly names: readonly string[];
  /** The node that the address names; undefined for none. */
  readonly chosen: string | undefined;
}

/** Something that runs on a node; without a cluster it names none. */
export interface OnNode {
  readonly node?: string | undefined;
}

/** Names of the nodes that run sessions: those that are listed, that entries name, and that the address names. */
export function namesOf(
  listed: Iterable<Node>,
  entries: Iterable<OnNode>,
  { own, chosen }: Omit<ClusterNodes, 'names'>,
): string[] {
  const working = [...listed].filter(({ role }) => role !== 'gateway');
  const names = new Set([...working, ...entries].flatMap(({ node }) => node ?? []));
  // A node that has gone can still be the one that is chosen.
  if (chosen !== undefined && chosen !== own) names.add(chosen);
  return [...names].sort();
}

/** Whether something runs on the node that the address names; true for all when it names none. */
export const isOnNode = ({ node }: OnNode, chosen: string | undefined): boolean =>
  chosen === undefined || node === chosen;

/** The node that the address names, or else one that runs sessions, this one first; undefined while none is known. */
export const workingNode = ({ own, names, chosen }: ClusterNodes): string | undefined =>
  chosen ?? (names.includes(own) ? own : names[0]);

/** Columns of a table, with the node of each entry at a place. For a cluster only. */
export const withNodes = <T extends OnNode>(columns: readonly Column<T>[], index = 1): readonly Column<T>[] =>
  columns.toSpliced(index, 0, {
    key: 'node',
    title: 'Node',
    sortBy: ({ node }) => node ?? null,
    render: ({ node }) => node,
  });

interface NodeSelectProps {
  /** Undefined for a daemon alone: nothing is shown. */
  readonly nodes: ClusterNodes | undefined;
  /** What the choice of no node means. Left out where one has to be chosen. */
  readonly none?: string;
  /** The node that counts when the address names none. */
  readonly fallback?: string | undefined;
}

/** Chooses a node of the cluster. The choice is in the address. */
export function NodeSelect({ nodes, none, fallback = '' }: NodeSelectProps): JSX.Element | null {
  const { router } = useDashboard();
  if (!nodes) return null;
  return (
    <label class="node-select">
      <span>Node</span>
      <select
        value={nodes.chosen ?? fallback}
        onChange={({ currentTarget }) => {
          router.setQuery({ node: currentTarget.value });
        }}
      >
        {none === undefined ? null : <option value="">{none}</option>}
        {nodes.names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The nodes of the cluster; undefined for a daemon alone. */
export function useNodes(): ClusterNodes | undefined {
  const { access, live } = useDashboard();
  const own = access.info.value?.node;
  const chosen = useChosenNode();
  const mayList = own !== undefined && access.whyNot('list_nodes') === undefined;
  const { value } = useAnswer('list_nodes', mayList ? {} : undefined);
  if (own === undefined) return undefined;
  const listed = live.nodes.value?.values() ?? value?.nodes ?? [];
  return { own, chosen, names: namesOf(listed, entriesOf(live), { own, chosen }) };
}

/** The node that the address names; undefined for none. */
export function useChosenNode(): string | undefined {
  const { node = '' } = useDashboard().router.route.value.query;
  return node === '' ? undefined : node;
}

/** What is known to run somewhere. */
const entriesOf = ({ sessions, commands }: Dashboard['live']): readonly OnNode[] =>
  [sessions.value, commands.value].flatMap((entries) => [...(entries?.values() ?? [])]);
