import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';

interface PanelProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** Controls beside the title. */
  readonly actions?: ComponentChildren;
}

/** A part of a page with a title. */
export function Panel({ title, children, actions }: PanelProps): JSX.Element {
  const id = useId();
  return (
    <section class="panel" aria-labelledby={id}>
      <header class="panel-head">
        <h2 id={id}>{title}</h2>
        {actions}
      </header>
      {children}
    </section>
  );
}
