import type { JSX } from 'preact';
import { useId } from 'preact/hooks';

import { SafeText } from '../../components/command/command-text.js';

/** Paths of the workspace under a title; nothing when there are none. */
export function PathList({ title, paths }: PathListProps): JSX.Element | null {
  const id = useId();
  if (paths.length === 0) return null;
  return (
    <section class="path-list" aria-labelledby={id}>
      <h3 id={id}>{`${title} (${paths.length})`}</h3>
      <ul aria-labelledby={id} tabIndex={0}>
        {paths.map((path) => (
          <li key={path}>
            <code>
              <SafeText text={path} />
            </code>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface PathListProps {
  readonly title: string;
  readonly paths: readonly string[];
}
