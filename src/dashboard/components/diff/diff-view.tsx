import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';

import { SafeText } from '../command/command-text.js';
import { useVirtualWindow } from '../table/use-virtual-window.js';
import { type DiffLine, parseDiff } from './unified-diff.js';

import './diff.css';

/** Height of a line in pixels, as in diff.css. */
const LINE_HEIGHT = 20;
/** Lines above which only those in sight are in the document. */
const VIRTUAL_LINES = 2000;

const SIGNS: { readonly [K in DiffLine['kind']]: string } = {
  added: '+',
  removed: '−',
  context: '',
  file: '',
  hunk: '',
  note: '',
};

/** A unified diff with line numbers. Above 2000 lines, only those in sight are in the document. */
export function DiffView({ patch, label }: { readonly patch: string; readonly label: string }): JSX.Element {
  const lines = useMemo(() => parseDiff(patch), [patch]);
  const { ref, window } = useVirtualWindow(lines.length, LINE_HEIGHT);
  const isVirtual = lines.length > VIRTUAL_LINES;
  const { from, to, above, below } = isVirtual ? window : { from: 0, to: lines.length, above: 0, below: 0 };
  return (
    <div ref={ref} class="diff" tabIndex={0} role="region" aria-label={label}>
      <div class="diff-lines">
        <div style={{ height: `${above}px` }} />
        {lines.slice(from, to).map((line, index) => (
          <Line key={from + index} line={line} />
        ))}
        <div style={{ height: `${below}px` }} />
      </div>
    </div>
  );
}

const Line = ({ line: { kind, text, before, after } }: { readonly line: DiffLine }): JSX.Element => (
  <div class={`diff-line line-${kind}`}>
    <span class="diff-number">{before}</span>
    <span class="diff-number">{after}</span>
    <span class="diff-sign">{SIGNS[kind]}</span>
    <span class="diff-text">
      <SafeText text={text} />
    </span>
  </div>
);
