import type { JSX } from 'preact';

import { TwoStepButton } from '../../components/button.js';
import type { Node } from '../../state/wire.js';

interface DrainButtonProps {
  readonly node: Node;
  /** Why the role may not. */
  readonly whyNot: string | undefined;
  readonly onDrain: (node: Node) => void;
}

/** Has a node take no new work, or take it again. A gateway has none. */
export function DrainButton({ node, whyNot, onDrain }: DrainButtonProps): JSX.Element | null {
  if (node.role === 'gateway') return null;
  const isDraining = node.state === 'draining';
  const refused = whyNot ?? (node.state === 'live' || isDraining ? undefined : 'It is not connected.');
  return (
    <TwoStepButton
      ask={isDraining ? 'Take new work?' : 'Take nothing new?'}
      whyNot={refused}
      onPress={() => {
        onDrain(node);
      }}
    >
      {isDraining ? 'Undrain' : 'Drain'}
    </TwoStepButton>
  );
}
