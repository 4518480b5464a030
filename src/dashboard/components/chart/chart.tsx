import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import { Reload } from '../reload.js';
import { useDashboard } from '../../state/context.js';
import { useCode } from '../../state/code/use-code.js';
import type { ChartCanvas, ChartData, ChartLine } from './chart-canvas.js';
import { type ChartMark, nameWithMarks, type PlacedMark, placeMarks } from './marks.js';

import 'uplot/dist/uPlot.min.css';

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
