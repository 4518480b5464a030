import type { ComponentChildren, JSX } from 'preact';

/** A row of controls. */
export const Toolbar = ({ label, children }: ToolbarProps): JSX.Element => (
  <div class="toolbar" role="group" aria-label={label}>
    {children}
  </div>
);

interface ToolbarProps {
  readonly label: string;
  readonly children: ComponentChildren;
}
