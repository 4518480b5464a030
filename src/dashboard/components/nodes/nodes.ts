import type { Node } from '../../state/wire.js';

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
