import type { Tone } from '../tone.js';

/** Something that happened at a time of a chart. */
export interface ChartMark {
  /** In seconds. */
  readonly at: number;
  readonly tone: Extract<Tone, 'warn' | 'bad'>;
  /** One character, so that not the colour alone tells marks apart. */
  readonly sign: string;
  /** What happened, with its time. */
  readonly text: string;
}

/** A mark, and where it is: from 0 at the left edge to 1 at the right one. */
export interface PlacedMark extends ChartMark {
  readonly share: number;
}

/** Most marks that the name of a chart has. */
const MAX_NAMED = 3;

/** Places the marks that are within the times of a chart, in seconds. */
export const placeMarks = (
  marks: readonly ChartMark[],
  { from, to }: { readonly from: number; readonly to: number },
): readonly PlacedMark[] =>
  marks.flatMap((mark) => {
    // One that has just come may be later than the last tick of the clock.
    const share = Math.min(1, (mark.at - from) / (to - from));
    return share < 0 ? [] : [{ ...mark, share }];
  });

/** Name of a chart for screen readers, with its first marks. */
export function nameWithMarks(label: string, marks: readonly ChartMark[]): string {
  const named = marks.slice(0, MAX_NAMED).map(({ text }) => text);
  const others = marks.length - named.length;
  return [label, ...named, ...(others > 0 ? [`and ${others} earlier`] : [])].join('; ');
}
