import { Terminal } from '@xterm/headless';
import { describe, expect, it } from 'vitest';

import { useCurrentWidths } from '../../../../../src/dashboard/pages/session/terminal/character-width.js';
import {
  type SearchedTerminal,
  selectMatch,
} from '../../../../../src/dashboard/pages/session/terminal/terminal-search.js';

const COLS = 20;

/** A terminal without a screen, and the selection that a screen would have. */
class Searched implements SearchedTerminal {
  readonly cols = COLS;
  readonly rows = 5;
  readonly scrolled: number[] = [];
  selected: { x: number; y: number; length: number } | undefined;
  readonly #terminal: Terminal;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  get buffer(): SearchedTerminal['buffer'] {
    return this.#terminal.buffer;
  }

  getSelectionPosition() {
    const { x = 0, y = 0 } = this.selected ?? {};
    return this.selected ? { start: { x, y }, end: { x, y } } : undefined;
  }

  select(x: number, y: number, length: number): void {
    this.selected = { x, y, length };
  }

  scrollToLine(line: number): void {
    this.scrolled.push(line);
  }
}

async function show(text: string): Promise<Searched> {
  const terminal = new Terminal({ cols: COLS, rows: 5, scrollback: 100, allowProposedApi: true });
  useCurrentWidths(terminal);
  await new Promise<void>((resolve) => terminal.write(text.replaceAll('\n', '\r\n'), resolve));
  return new Searched(terminal);
}

/** The places that are selected one after the other. */
function places(searched: Searched, text: string, isBackwards: boolean, count: number): unknown[] {
  return Array.from({ length: count }, () => {
    expect(selectMatch(searched, text, isBackwards)).toBe(true);
    return [searched.selected?.y, searched.selected?.x, searched.selected?.length];
  });
}

describe('the search in a terminal', () => {
  it('visits each place in turn, and begins again', async () => {
    const searched = await show('one two one\nnone\nTWO');
    const all = [
      [0, 0, 3],
      [0, 8, 3],
      [1, 1, 3],
    ];
    expect(places(searched, 'one', false, 4)).toEqual([...all, all[0]]);
    expect(places(searched, 'ONE', true, 3)).toEqual([...all].reverse());
    expect(selectMatch(searched, 'three', false)).toBe(false);
    expect(selectMatch(searched, '', false)).toBe(false);
  });

  it('takes a text as it is, not as a pattern', async () => {
    const searched = await show('a+b (c) [d] $e');
    expect(places(searched, '(c) [d] $', false, 1)).toEqual([[0, 4, 9]]);
    expect(selectMatch(searched, 'a.b', false)).toBe(false);
  });

  it('finds a text across the rows of a wrapped line, behind wide characters and emoji', async () => {
    const searched = await show(`漢字 😀 é ${'x'.repeat(9)}needle rest`);
    expect(places(searched, 'needle', false, 1)).toEqual([[0, 19, 6]]);
    expect(places(searched, '😀', false, 1)).toEqual([[0, 5, 1]]);
  });

  it('scrolls to what is out of sight', async () => {
    const searched = await show(`needle\n${'line\n'.repeat(40)}end`);
    places(searched, 'end', false, 1);
    expect(searched.scrolled).toEqual([]);
    places(searched, 'needle', false, 1);
    expect(searched.scrolled).toEqual([0]);
  });
});

describe('the widths of characters', () => {
  it.each([
    ['a', 1],
    ['é', 1],
    ['e\u0301', 1],
    ['漢', 2],
    ['한', 2],
    ['😀', 2],
    ['🫠', 2],
    ['a\u200bb', 2],
    ['a\u00adb', 3],
    ['👩\u200d', 2],
    ['ｱ', 1],
    ['Ａ', 2],
  ])('of %j is %i', async (text, width) => {
    const searched = await show(text);
    expect(searched.buffer.active.cursorX).toBe(width);
  });
});
