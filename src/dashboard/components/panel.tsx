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

/** The title of a page, with controls beside it. */
export const PageHead = ({ title, children }: PageHeadProps): JSX.Element => (
  <div class="page-head">
    <h1>{title}</h1>
    {children}
  </div>
);

interface PageHeadProps {
  readonly title: string;
  readonly children?: ComponentChildren;
}

/** A name and its value. An undefined value leaves the fact out. */
export type Fact = readonly [name: string, value: ComponentChildren];

/** A list of facts about one thing. */
export const Facts = ({ facts }: { readonly facts: readonly Fact[] }): JSX.Element => (
  <dl class="facts">
    {facts
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
);
