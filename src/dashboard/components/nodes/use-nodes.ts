import type { Dashboard } from '../../state/dashboard.js';
import { useDashboard } from '../../state/context.js';
import { useAnswer } from '../../state/use-answer.js';
import { type ClusterNodes, namesOf, type OnNode } from './nodes.js';

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
