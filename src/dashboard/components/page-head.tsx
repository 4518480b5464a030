import type { ComponentChildren, JSX } from 'preact';

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
