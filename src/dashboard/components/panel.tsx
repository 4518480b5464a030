import type { ComponentChildren, JSX, RefObject } from 'preact';
import { useId } from 'preact/hooks';

interface PanelProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** Controls beside the title. */
  readonly actions?: ComponentChildren;
  /** Gets the title, which can then be focused. */
  readonly titleRef?: RefObject<HTMLHeadingElement | null>;
}

/** A part of a page with a title. */
export function Panel({ title, children, actions, titleRef }: PanelProps): JSX.Element {
  const id = useId();
  return (
    <section class="panel" aria-labelledby={id}>
      <header class="panel-head">
        <h2 id={id} ref={titleRef ?? null} tabIndex={titleRef ? -1 : undefined}>
          {title}
        </h2>
        {actions}
      </header>
      {children}
    </section>
  );
}
