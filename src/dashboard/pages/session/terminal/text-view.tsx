import type { JSX } from 'preact';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

import type { LogLine } from './text-log.js';
import type { TerminalModel } from './terminal-model.js';

/** Least time between two computations of the lines, in milliseconds. */
const REFRESH_MS = 500;

const SOURCES: { readonly [S in LogLine['source']]: string } = {
  stdout: '',
  stderr: 'stderr: ',
  command: 'command: ',
  gap: 'gap: ',
};

/** The lines, and how much had been shown then. */
const viewOf = ({ shown, log }: TerminalModel): { readonly shown: number; readonly lines: readonly LogLine[] } => ({
  shown: shown.peek(),
  lines: log.lines(),
});

/** The output as a list of lines: for screen readers, and for copying. */
export function TextView({ model }: { readonly model: TerminalModel }): JSX.Element {
  // With the count that they belong to: more may come before the effect is run.
  const view = useSignal(viewOf(model));
  useEffect(() => {
    const timer = setInterval(() => {
      if (view.peek().shown !== model.shown.peek()) view.value = viewOf(model);
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }, [model]);
  return (
    <div class="text-log" role="log" aria-label="Output as text" tabIndex={0}>
      <ol>
        {view.value.lines.map(({ id, source, text }) => (
          <li key={id} class={source}>
            {SOURCES[source] === '' ? null : <span class="source">{SOURCES[source]}</span>}
            {text}
          </li>
        ))}
      </ol>
    </div>
  );
}
