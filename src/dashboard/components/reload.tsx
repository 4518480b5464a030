import type { ComponentChildren, JSX } from 'preact';

import { Button } from './button.js';
import { Problem } from './states.js';

/** Loads the page again, with the view that its address names. */
const ReloadButton = (): JSX.Element => <Button onPress={() => location.reload()}>Load it again</Button>;

/** Says that code could not be loaded, and how it is. */
export const Reload = ({ what }: { readonly what: string }): JSX.Element => (
  <p role="alert">
    {what} is missing. <ReloadButton />
  </p>
);

/** The same in place of a page. */
export const ReloadPage = ({ children }: { readonly children: ComponentChildren }): JSX.Element => (
  <Problem title="This page could not be loaded">
    {children} <ReloadButton />
  </Problem>
);
