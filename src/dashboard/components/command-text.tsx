import './command-text.css';

import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';

import { tokensOf } from './shell-tokens.js';

/** A part of a text: what is as it looks, a character that is not seen or changes its surroundings, or letters beyond ASCII. */
interface TextPiece {
  readonly kind: 'plain' | 'special' | 'foreign';
  readonly text: string;
}

/**
 * Characters that show nothing, look like a space, or turn the order of what follows: controls, formats such as
 * U+202E, line separators, spaces other than U+0020, private and unassigned ones, lone surrogates, and those that
 * Unicode calls default ignorable. The braille blank is none of these, and is seen as little.
 */
const SPECIAL = /(?![ \n])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;
const PIECES = new RegExp(`(${SPECIAL.source})|([ -~\\n]+)|[^]`, 'gu');

/** Most characters that are named in the title of a part. */
const MAX_NAMED = 12;

/** Splits a text into parts; together they are the text. Special characters are parts of their own. */
export function piecesOf(text: string): readonly TextPiece[] {
  const pieces: TextPiece[] = [];
  for (const [found, special, plain] of text.matchAll(PIECES)) {
    const kind = special !== undefined ? 'special' : plain !== undefined ? 'plain' : 'foreign';
    const last = pieces.at(-1);
    if (kind === 'foreign' && last?.kind === 'foreign') pieces.splice(-1, 1, { kind, text: last.text + found });
    else pieces.push({ kind, text: found });
  }
  return pieces;
}

/** Names the characters of a text by their numbers, such as `U+202E`. */
export function codePointsOf(text: string): string {
  const names = Array.from(text, (character) => {
    const number = character.codePointAt(0) ?? 0;
    return `U+${number.toString(16).toUpperCase().padStart(4, '0')}`;
  });
  return names.length <= MAX_NAMED ? names.join(' ') : `${names.slice(0, MAX_NAMED).join(' ')} …`;
}

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
