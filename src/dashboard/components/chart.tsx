import 'uplot/dist/uPlot.min.css';

import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import { useCode } from '../state/code.js';
import { useDashboard } from '../state/context.js';
import { Reload } from './button.js';
import type { ChartCanvas, ChartData, ChartLine } from './chart-canvas.js';
import type { Tone } from './tone.js';

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
interface PlacedMark extends ChartMark {
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

interface ChartProps {
  /** Name for screen readers, with the last value. */
  readonly label: string;
  readonly lines: readonly ChartLine[];
  readonly data: ChartData;
  /** The newest one first. Those that are in sight are part of the name. */
  readonly marks?: readonly ChartMark[];
  /** Called with the index of the values that are pointed at, in any chart of the page; undefined for none. */
  readonly onPoint?: (index: number | undefined) => void;
}

/** A small chart. Its code is loaded with the first one. */
export function Chart({ label, lines, data, marks = [], onPoint }: ChartProps): JSX.Element {
  const element = useRef<HTMLDivElement>(null);
  const canvas = useRef<ChartCanvas | undefined>(undefined);
  const latest = useRef(data);
  latest.current = data;
  const { theme } = useDashboard();
  const { isDark } = theme;
  const { code, isMissing } = useCode(() => import('./chart-canvas.js'));
  useEffect(() => {
    if (code && element.current)
      canvas.current = new code.ChartCanvas(element.current, { lines, onPoint }, latest.current);
    return () => {
      canvas.current?.[Symbol.dispose]();
      canvas.current = undefined;
    };
  }, [code, lines]);
  useEffect(() => {
    canvas.current?.update(data);
  }, [data]);
  useEffect(() => {
    canvas.current?.recolour();
  }, [isDark]);
  if (isMissing) return <Reload what="The chart" />;
  const placed = placeMarks(marks, data);
  return (
    <div class="chart" role="img" aria-label={nameWithMarks(label, placed)}>
      <div ref={element} class="chart-lines" />
      {placed.map((mark) => (
        <Mark key={`${mark.at} ${mark.text}`} mark={mark} />
      ))}
    </div>
  );
}

/** A vertical line with a sign, which stands on the side that has more room. */
const Mark = ({ mark: { share, tone, sign, text } }: { readonly mark: PlacedMark }): JSX.Element => (
  <span class={`chart-mark ${tone}${share > 0.5 ? ' late' : ''}`} style={{ left: `${share * 100}%` }}>
    <span class="sign" title={text}>
      {sign}
    </span>
  </span>
);
