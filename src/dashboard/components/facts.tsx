import type { ComponentChildren, JSX } from 'preact';

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
