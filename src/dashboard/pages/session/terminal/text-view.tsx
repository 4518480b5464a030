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

/** The output as a list of lines: for screen readers, and for copying. */
export function TextView({ model }: { readonly model: TerminalModel }): JSX.Element {
  const lines = useSignal<readonly LogLine[]>(model.log.lines());
  useEffect(() => {
    let shown = model.shown.peek();
    const timer = setInterval(() => {
      if (shown === model.shown.peek()) return;
      shown = model.shown.peek();
      lines.value = model.log.lines();
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }, [model]);
  return (
    <div class="text-log" role="log" aria-label="Output as text" tabIndex={0}>
      <ol>
        {lines.value.map(({ id, source, text }) => (
          <li key={id} class={source}>
            {SOURCES[source] === '' ? null : <span class="source">{SOURCES[source]}</span>}
            {text}
          </li>
        ))}
      </ol>
    </div>
  );
}
