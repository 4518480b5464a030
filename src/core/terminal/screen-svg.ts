import { xtermColour } from './palette.js';
import type { ScreenCell, ScreenView } from './screen-view.js';

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
