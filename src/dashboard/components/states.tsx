import type { ComponentChildren, JSX } from 'preact';

import { either } from '../format.js';

/** Shown while something is read. */
export const Loading = ({ what }: { readonly what: string }): JSX.Element => (
  <p class="state" role="status">
    <span class="spinner" aria-hidden="true" />
    {`Loading ${what}…`}
  </p>
);

/** Shown in place of an empty list, with a hint how it fills. */
export const Empty = ({ title, children }: StateProps): JSX.Element => (
  <div class="state">
    <strong>{title}</strong>
    <p>{children}</p>
  </div>
);

/** Shown when something went wrong. */
export const Problem = ({ title, children }: StateProps): JSX.Element => (
  <div class="state problem" role="alert">
    <strong>{title}</strong>
    <p>{children}</p>
  </div>
);

/** Shown in place of a page that needs another role. */
export const NotAllowed = ({
  roles,
  role,
}: {
  readonly roles: readonly string[];
  readonly role: string;
}): JSX.Element => (
  <Empty title="Not allowed">
    {`This page needs the role ${either(roles)}; this connection has the role ${role}. `}
    Sign in with another token, or make a link with one: <code>SHELL_ADAPTER_TOKEN=… shell-adapter dashboard</code>
  </Empty>
);

interface StateProps {
  readonly title: string;
  readonly children?: ComponentChildren;
}
