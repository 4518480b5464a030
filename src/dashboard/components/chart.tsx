import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import { useDashboard } from '../state/context.js';
import type { ChartCanvas, ChartData, ChartLine } from './chart-canvas.js';

interface ChartProps {
  /** Name for screen readers, with the last value. */
  readonly label: string;
  readonly lines: readonly ChartLine[];
  readonly data: ChartData;
}

/** A small chart. Its code is loaded with the first one. */
export function Chart({ label, lines, data }: ChartProps): JSX.Element {
  const element = useRef<HTMLDivElement>(null);
  const canvas = useRef<ChartCanvas | undefined>(undefined);
  const latest = useRef(data);
  latest.current = data;
  const { theme } = useDashboard();
  const { isDark } = theme;
  useEffect(() => {
    let isGone = false;
    void import('./chart-canvas.js').then(({ ChartCanvas: Canvas }) => {
      if (!isGone && element.current) canvas.current = new Canvas(element.current, lines, latest.current);
    });
    return () => {
      isGone = true;
      canvas.current?.[Symbol.dispose]();
      canvas.current = undefined;
    };
  }, [lines]);
  useEffect(() => {
    canvas.current?.update(data);
  }, [data]);
  useEffect(() => {
    canvas.current?.recolour();
  }, [isDark]);
  return <div ref={element} class="chart" role="img" aria-label={label} />;
}
