import { expect, it } from 'vitest';

import { type ScreenCell, screenSvg, xtermColour } from '../../../../src/core/screen.js';

const draw = (...cells: readonly ScreenCell[]) =>
  screenSvg({
    text: '',
    rows: 1,
    cols: cells.length,
    cursor: { row: 1, col: 1 },
    alternate: false,
    cells: [[...cells]],
  });

const cell = (text: string, look: Partial<ScreenCell> = {}): ScreenCell => ({ text, width: 1, ...look });

it('draws cells with the same look as one text, and escapes it', () => {
  const svg = draw(cell('<'), cell('&'), cell('b', { bold: true, fg: 1 }), cell('\u0001'));
  expect(svg).toContain('textLength="16.8" lengthAdjust="spacingAndGlyphs" fill="#e6e6e6">&lt;&amp;</text>');
  expect(svg).toContain('fill="#ffa198" font-weight="bold">b</text>');
  expect(svg).not.toContain('\u0001');
});

it('gives wide characters two columns, and swaps colours for inverse', () => {
  const svg = draw(cell('漢', { width: 2 }), cell('', { width: 0 }), cell('x', { inverse: true, bg: '#010203' }));
  expect(svg).toContain('textLength="16.8" lengthAdjust="spacingAndGlyphs" fill="#e6e6e6">漢</text>');
  expect(svg).toContain('<rect x="28.8" y="12" width="8.4" height="18" fill="#e6e6e6"/>');
  expect(svg).toContain('fill="#010203">x</text>');
});

it('draws nothing for empty places', () => {
  expect(draw(cell(' '), cell(' '))).not.toContain('<text');
});

it.each([
  [0, '#484f58'],
  [15, '#ffffff'],
  [16, '#000000'],
  [208, '#ff8700'],
  [231, '#ffffff'],
  [232, '#080808'],
  [255, '#eeeeee'],
])('colour %i of the palette is %s', (index, colour) => {
  expect(xtermColour(index)).toBe(colour);
});
