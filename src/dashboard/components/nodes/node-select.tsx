import type { JSX } from 'preact';

import { useDashboard } from '../../state/context.js';
import type { ClusterNodes } from './nodes.js';

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
