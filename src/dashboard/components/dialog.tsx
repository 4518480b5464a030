import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

import { Button } from './button.js';
import { Icon } from './icon.js';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  /** Buttons at its end. */
  readonly actions?: ComponentChildren;
}

/** A dialog over the page. The browser keeps the focus in it, and `Esc` closes it. */
export function Dialog({ title, onClose, children, actions }: DialogProps): JSX.Element {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog ref={element} class="dialog" aria-labelledby={id} onClose={onClose}>
      <header>
        <h2 id={id}>{title}</h2>
        <Button tone="quiet" label="Close" onPress={() => element.current?.close()}>
          <Icon name="close" />
        </Button>
      </header>
      <div class="dialog-body">{children}</div>
      {actions === undefined ? null : <footer>{actions}</footer>}
    </dialog>
  );
}
