import type { JSX } from 'preact';

/** Says that code could not be loaded, and how it is. */
export const Reload = ({ what }: { readonly what: string }): JSX.Element => (
  <p>
    {what} is missing. <a href=".">Load it again</a>
  </p>
);
