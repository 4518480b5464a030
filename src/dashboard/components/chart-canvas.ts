import uPlot from 'uplot';

/** What a chart shows. */
export interface ChartData {
  /** Times in seconds, then one column for each line. */
  readonly columns: readonly (readonly (number | null)[])[];
  /** Range of the times, in seconds: with few points a chart would choose years. */
  readonly from: number;
  readonly to: number;
  /** Top of the values; null for the highest one. */
  readonly top: number | null;
}

/** Lines and their colours, as names of custom properties. */
export interface ChartLine {
  readonly title: string;
  readonly colour: string;
}

/** How a chart looks, and what it tells. */
export interface ChartOptions {
  readonly lines: readonly ChartLine[];
  /** Called with the index of the values that are pointed at, in this chart or in one with the same times; undefined for none. */
  readonly onPoint?: ((index: number | undefined) => void) | undefined;
}

/** Name under which charts show the same time. */
const SYNC_KEY = 'time';

/** Room above the highest value, as a factor. */
const HEADROOM = 1.15;

/** A small chart of lines, which follows the size of its element. */
export class ChartCanvas implements Disposable {
  readonly #plot: uPlot;
  readonly #observer: ResizeObserver;
  /** By name of the custom property. To ask for a style makes the browser lay out the page. */
  readonly #colours = new Map<string, string>();
  #data: ChartData;

  constructor(element: HTMLElement, options: ChartOptions, data: ChartData) {
    this.#data = data;
    const { clientWidth: width, clientHeight: height } = element;
    const look = { ...this.#options(element, options.lines), ...cursorOf(options) };
    this.#plot = new uPlot({ ...look, width, height }, columnsOf(data), element);
    this.#observer = new ResizeObserver(() => {
      this.#plot.setSize({ width: element.clientWidth, height: element.clientHeight });
    });
    this.#observer.observe(element);
  }

  /** Shows other values. */
  update(data: ChartData): void {
    this.#data = data;
    this.#plot.setData(columnsOf(data));
  }

  /** Takes the colours of another theme. */
  recolour(): void {
    this.#colours.clear();
    this.#plot.redraw(false);
  }

  [Symbol.dispose](): void {
    this.#observer.disconnect();
    this.#plot.destroy();
  }

  #options(element: HTMLElement, lines: readonly ChartLine[]): Omit<uPlot.Options, 'width' | 'height'> {
    const colourOf = (name: string) => {
      const colour = this.#colours.get(name) ?? getComputedStyle(element).getPropertyValue(name);
      this.#colours.set(name, colour);
      return colour;
    };
    return {
      padding: [2, 0, 2, 0],
      select: { show: false, left: 0, top: 0, width: 0, height: 0 },
      legend: { show: false },
      axes: [{ show: false }, { show: false }],
      scales: {
        x: { time: true, range: () => [this.#data.from, this.#data.to] },
        y: { range: (_plot, _low, high) => [0, this.#data.top ?? Math.max(1, (high || 0) * HEADROOM)] },
      },
      series: [
        {},
        ...lines.map(({ colour }, index) => ({
          stroke: () => colourOf(colour),
          ...(index === 0 && { fill: () => `color-mix(in srgb, ${colourOf(colour)} 18%, transparent)` }),
          width: 1.5,
          points: { show: false },
        })),
      ],
    };
  }
}

/** A line at the time that is pointed at, where there is a listener. */
const cursorOf = ({ onPoint }: ChartOptions): Pick<uPlot.Options, 'cursor' | 'hooks'> =>
  onPoint
    ? {
        cursor: { y: false, points: { show: false }, drag: { x: false, y: false }, sync: { key: SYNC_KEY } },
        hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? undefined)] },
      }
    : { cursor: { show: false } };

const columnsOf = ({ columns }: ChartData): uPlot.AlignedData =>
  columns.map((column) => [...column]) as uPlot.AlignedData;
