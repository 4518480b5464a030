/** The first 16 colours of a dark terminal. */
const BASE = [
  ...['#484f58', '#ff7b72', '#3fb950', '#d29922', '#58a6ff', '#bc8cff', '#39c5cf', '#b1bac4'],
  ...['#6e7681', '#ffa198', '#56d364', '#e3b341', '#79c0ff', '#d2a8ff', '#56d4dd', '#ffffff'],
] as const;

/** Steps of the colour cube 16 to 231. Source: xterm, 256colres.pl. */
const CUBE = [0, 95, 135, 175, 215, 255] as const;

/** A colour of the palette of 256 colours, as `#rrggbb`. */
export function xtermColour(index: number): string {
  const base = BASE[index];
  if (base !== undefined) return base;
  if (index >= 232) return hexOf(Array.from({ length: 3 }, () => 8 + (index - 232) * 10));
  const place = index - 16;
  return hexOf([Math.floor(place / 36), Math.floor(place / 6) % 6, place % 6].map((step) => CUBE[step] ?? 0));
}

const hexOf = (parts: readonly number[]): string =>
  `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;

/** A character of a screen, and how it looks. Colours are those of the palette (0 to 255) or `#rrggbb`; without one, the default. */
export interface ScreenCell {
  readonly text: string;
  /** Columns that it takes: 2 for a wide character, 0 for the place behind one. */
  readonly width: number;
  readonly fg?: number | string | undefined;
  readonly bg?: number | string | undefined;
  readonly bold?: true | undefined;
  readonly dim?: true | undefined;
  readonly italic?: true | undefined;
  readonly underline?: true | undefined;
  readonly inverse?: true | undefined;
  readonly strikethrough?: true | undefined;
}

export interface ScreenView {
  /** The lines, without spaces at their ends and without empty lines at the end. */
  readonly text: string;
  readonly rows: number;
  readonly cols: number;
  /** Row and column of the cursor, from 1. */
  readonly cursor: { readonly row: number; readonly col: number };
  /** Whether a full-screen program has switched to the alternate screen. */
  readonly alternate: boolean;
  /** All cells, row by row. */
  readonly cells?: ScreenCell[][] | undefined;
}

/** Size of a cell of a fixed-width font of 14 pixels, in pixels. */
const CELL = { width: 8.4, height: 18, baseline: 13.5, fontSize: 14 } as const;
const MARGIN = 12;
const COLOURS = { text: '#e6e6e6', background: '#0c0f14' } as const;
const FONT = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";

/** Cells beside each other with the same look. */
interface Run {
  readonly column: number;
  readonly look: Look;
  /** Whether each of its characters has one column. */
  readonly isNarrow: boolean;
  columns: number;
  text: string;
}

interface Look {
  readonly fill: string;
  readonly back: string | undefined;
  /** Attributes of the text, as SVG. */
  readonly attributes: string;
}

/** Draws a screen that was read with its cells, as a picture in SVG that needs nothing else. */
export function screenSvg({ cells = [], rows, cols }: ScreenView): string {
  const [width, height] = [cols * CELL.width + 2 * MARGIN, rows * CELL.height + 2 * MARGIN].map(rounded);
  const lines = cells.flatMap((line, row) => runsOf(line).map((run) => drawRun(run, row)));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">
<rect width="100%" height="100%" rx="8" fill="${COLOURS.background}"/>
<g font-family="${FONT}" font-size="${CELL.fontSize}" xml:space="preserve">
${lines.filter((line) => line !== '').join('\n')}
</g>
</svg>
`;
}

function runsOf(line: readonly ScreenCell[]): readonly Run[] {
  const runs: Run[] = [];
  for (const [column, cell] of line.entries()) {
    const look = lookOf(cell);
    const last = runs.at(-1);
    // The place of a wide character is its own, whatever the font makes of it.
    const isJoined = last?.isNarrow === true && cell.width === 1 && isSame(last.look, look);
    if (last && (isJoined || cell.width === 0)) {
      last.columns += 1;
      last.text += cell.text;
    } else {
      runs.push({ column, look, isNarrow: cell.width === 1, columns: 1, text: cell.text });
    }
  }
  return runs;
}

function drawRun({ column, look, columns, text }: Run, row: number): string {
  const [x, y] = [MARGIN + column * CELL.width, MARGIN + row * CELL.height].map(rounded);
  const width = rounded(columns * CELL.width);
  const back =
    look.back === undefined
      ? ''
      : `<rect x="${x}" y="${y}" width="${width}" height="${CELL.height}" fill="${look.back}"/>`;
  if (text.trim() === '' && look.attributes === '') return back;
  const place = `x="${x}" y="${rounded((y ?? 0) + CELL.baseline)}" textLength="${width}" lengthAdjust="spacingAndGlyphs"`;
  return `${back}<text ${place} fill="${look.fill}"${look.attributes}>${escapeXml(text)}</text>`;
}

function lookOf(cell: ScreenCell): Look {
  const isInverse = cell.inverse === true;
  const text = colourOf(cell.fg, cell.bold === true);
  const back = colourOf(cell.bg, false);
  const attributes = ATTRIBUTES.map(([name, attribute]) => (cell[name] === true ? attribute : '')).join('');
  if (isInverse) return { fill: back ?? COLOURS.background, back: text ?? COLOURS.text, attributes };
  return { fill: text ?? COLOURS.text, back, attributes };
}

/** What attributes of a cell are in SVG. */
const ATTRIBUTES = [
  ['bold', ' font-weight="bold"'],
  ['italic', ' font-style="italic"'],
  ['dim', ' opacity="0.6"'],
  ['underline', ' text-decoration="underline"'],
  ['strikethrough', ' text-decoration="line-through"'],
] as const;

/** Bold text has the bright one of the first eight colours, as terminals show it. */
function colourOf(colour: number | string | undefined, isBright: boolean): string | undefined {
  if (typeof colour !== 'number') return colour;
  return xtermColour(isBright && colour < 8 ? colour + 8 : colour);
}

const isSame = (a: Look, b: Look): boolean => a.fill === b.fill && a.back === b.back && a.attributes === b.attributes;

const rounded = (value: number): number => Math.round(value * 100) / 100;

const ENTITIES: { readonly [character: string]: string } = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Control characters, which XML does not allow, are spaces. */
const escapeXml = (text: string): string =>
  text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? '').replaceAll(/\p{Cc}/gu, ' ');
