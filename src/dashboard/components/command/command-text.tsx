import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';

import { codePointsOf, piecesOf } from './special-characters.js';
import { tokensOf } from './shell-tokens.js';

import './command-text.css';

/** Characters of a command that are highlighted; the rest is shown plainly, so that a huge command stays quick. */
const MAX_HIGHLIGHTED = 20_000;

/** A text whose invisible characters are boxes, and whose letters beyond ASCII are marked. */
export const SafeText = ({ text }: { readonly text: string }): JSX.Element => (
  <span class="safe-text">
    {piecesOf(text).map(({ kind, text: piece }, index) => {
      if (kind === 'plain') return piece;
      const names = codePointsOf(piece);
      return kind === 'special' ? (
        <span key={index} class="special-character" title={`${names}: a character that cannot be seen`}>
          {names}
        </span>
      ) : (
        <mark key={index} class="foreign" title={`Not ASCII: ${names}`}>
          {piece}
        </mark>
      );
    })}
  </span>
);

/** A command with its parts highlighted, and nothing hidden. */
export function CommandText({ command }: { readonly command: string }): JSX.Element {
  return useMemo(() => {
    const [shown, rest] = [command.slice(0, MAX_HIGHLIGHTED), command.slice(MAX_HIGHLIGHTED)];
    return (
      <code class="command-text">
        {tokensOf(shown).map(({ kind, text }, index) => (
          <span key={index} class={`shell-${kind}`}>
            <SafeText text={text} />
          </span>
        ))}
        {rest === '' ? null : <SafeText text={rest} />}
      </code>
    );
  }, [command]);
}

/** A program with its arguments, each on a line of its own: no shell splits them. */
export const ProgramText = ({ program, args }: ProgramProps): JSX.Element => (
  <ol class="program-text" aria-label="Program and arguments">
    {[program, ...args].map((text, index) => (
      <li key={index}>
        <code class={index === 0 ? 'shell-command' : undefined}>
          {text === '' ? <em class="muted">empty</em> : <SafeText text={text} />}
        </code>
      </li>
    ))}
  </ol>
);

interface ProgramProps {
  readonly program: string;
  readonly args: readonly string[];
}
