import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';

import { Chip } from '../../components/badge.js';
import { Button, Toolbar } from '../../components/button.js';
import { Chart } from '../../components/chart.js';
import { type Column, DataTable } from '../../components/data-table.js';
import { Loading } from '../../components/states.js';
import { countOf, formatBytes, formatClock, formatPercent, formatRate } from '../../format.js';
import { useDashboard } from '../../state/context.js';
import type { HostSample, HostSizes } from '../../state/wire.js';

/** A card with the course of a value. */
interface HostCard {
  readonly title: string;
  /** Names of its lines. */
  readonly series: readonly string[];
  /** The values of a sample, one for each line; null for those that are not known. */
  readonly values: (sample: HostSample) => readonly (number | null)[];
  /** The newest value as text. */
  readonly text: (sample: HostSample) => string;
  /** What it is measured against. */
  readonly detail: (sample: HostSample, sizes: HostSizes) => string;
  /** What the card has no room for. */
  readonly hint?: (sample: HostSample) => string;
  /** The highest value that is possible; undefined for none. */
  readonly top?: (sizes: HostSizes) => number | null;
}

const orDash = (value: number | null, format: (value: number) => string): string =>
  value === null ? '—' : format(value);

/** The cards of the machine. */
export const HOST_CARDS: readonly HostCard[] = [
  {
    title: 'CPU',
    series: ['CPU'],
    values: ({ cpu_percent: cpu }) => [cpu],
    text: ({ cpu_percent: cpu }) => orDash(cpu, formatPercent),
    detail: (_sample, { cpus }) => `of ${countOf(cpus, 'CPU')}`,
    top: () => 100,
  },
  {
    title: 'Memory',
    series: ['Memory'],
    values: ({ memory_used_bytes: used }) => [used],
    text: ({ memory_used_bytes: used }) => formatBytes(used),
    detail: (_sample, { memory_bytes: size }) => `of ${formatBytes(size)}`,
    hint: ({ daemon_rss_bytes: rss }) => `The daemon has ${formatBytes(rss)} of it`,
    top: ({ memory_bytes: size }) => size,
  },
  {
    title: 'Disk',
    series: ['Disk'],
    values: ({ disk_used_bytes: used }) => [used],
    text: ({ disk_used_bytes: used }) => orDash(used, formatBytes),
    detail: (_sample, { disk_bytes: size }) => (size === null ? 'of the workspace' : `of ${formatBytes(size)}`),
    top: ({ disk_bytes: size }) => size,
  },
  {
    title: 'Load',
    series: ['Load'],
    values: ({ load1: load }) => [load],
    text: ({ load1: load }) => load.toFixed(2),
    detail: (_sample, { cpus }) => `1 min, ${countOf(cpus, 'CPU')}`,
  },
  {
    title: 'Network',
    series: ['Received', 'Sent'],
    values: ({ net_rx_bytes_s: received, net_tx_bytes_s: sent }) => [received, sent],
    text: ({ net_rx_bytes_s: received }) => orDash(received, formatRate),
    detail: ({ net_tx_bytes_s: sent }) => `received; sent ${orDash(sent, formatRate)}`,
  },
  {
    title: 'Commands',
    series: ['Commands', 'Sessions'],
    values: ({ commands_running: commands, sessions }) => [commands, sessions],
    text: ({ commands_running: commands }) => String(commands),
    detail: ({ sessions }) => `running, in ${countOf(sessions, 'session')}`,
  },
];

/** A span of time that charts can show. */
interface TimeWindow {
  readonly name: string;
  readonly title: string;
  readonly ms: number;
}

/** The spans of time that charts can show; the first is the default. */
const TIME_WINDOWS: readonly [TimeWindow, ...TimeWindow[]] = [
  { name: '5m', title: '5 min', ms: 300_000 },
  { name: '15m', title: '15 min', ms: 900_000 },
  { name: '1h', title: '1 h', ms: 3_600_000 },
];

/** Samples of a span of time. */
interface SeenSamples {
  readonly samples: readonly HostSample[];
  /** Their times, in seconds. */
  readonly times: readonly number[];
}

/** The samples from a time on, in milliseconds. */
export function samplesSince(samples: readonly HostSample[], from: number): SeenSamples {
  const seen = samples.slice(samples.findLastIndex(({ at }) => Date.parse(at) < from) + 1);
  return { samples: seen, times: seen.map(({ at }) => Date.parse(at) / 1000) };
}

/** Samples as columns: the times, then a column for each line. */
export function columnsOf(
  { samples, times }: SeenSamples,
  { values, series }: Pick<HostCard, 'values' | 'series'>,
): (number | null)[][] {
  const rows = samples.map(values);
  return [[...times], ...series.map((_, index) => rows.map((row) => row[index] ?? null))];
}

const COLOURS = ['--accent', '--info'] as const;

/** The lines of each card: made once, since a chart begins again with other lines. */
const LINES = new Map(
  HOST_CARDS.map(({ title, series }) => [
    title,
    series.map((name, index) => ({ title: name, colour: COLOURS[index] ?? '--accent' })),
  ]),
);

const COLUMNS: readonly Column<HostSample>[] = [
  { key: 'at', title: 'Time', render: ({ at }) => formatClock(Date.parse(at)), sortBy: ({ at }) => at },
  ...HOST_CARDS.map((card) => ({ key: card.title, title: card.title, render: card.text, isNumeric: true })),
];

/** How the machine is: cards with charts, or a table of the same values. */
export function HostPanel(): JSX.Element {
  const { live, router } = useDashboard();
  const isTable = useSignal(false);
  const { window: name } = router.route.value.query;
  const window = TIME_WINDOWS.find((one) => one.name === name) ?? TIME_WINDOWS[0];
  const samples = live.host.value;
  const sizes = live.hostSizes.value;
  const last = samples.at(-1);
  if (!last || !sizes) return <Loading what="the values of the machine" />;
  // Not the clock: the charts would be drawn twice a second.
  const to = Date.parse(last.at);
  const seen = samplesSince(samples, to - window.ms);
  return (
    <section aria-label="Machine" class="host">
      <HostTools window={window} isTable={isTable.value} onTable={() => (isTable.value = !isTable.value)} />
      {isTable.value ? (
        <div class="panel">
          <DataTable
            label="Values of the machine"
            rows={seen.samples}
            columns={COLUMNS}
            keyOf={({ at }) => at}
            initialSort="-at"
            sortName="hostsort"
          />
        </div>
      ) : (
        <div class="cards">
          {HOST_CARDS.map((card) => (
            <Card key={card.title} card={card} seen={seen} sizes={sizes} range={{ from: to - window.ms, to }} />
          ))}
        </div>
      )}
    </section>
  );
}

interface HostToolsProps {
  readonly window: TimeWindow;
  readonly isTable: boolean;
  readonly onTable: () => void;
}

function HostTools({ window, isTable, onTable }: HostToolsProps): JSX.Element {
  const { router } = useDashboard();
  return (
    <Toolbar label="Time of the charts">
      {TIME_WINDOWS.map(({ name, title }) => (
        <Chip key={name} isOn={name === window.name} onToggle={() => router.setQuery({ window: name })}>
          {title}
        </Chip>
      ))}
      <span class="spacer" />
      <Button isPressed={isTable} onPress={onTable}>
        As table
      </Button>
    </Toolbar>
  );
}

interface CardProps {
  readonly card: HostCard;
  readonly seen: SeenSamples;
  readonly sizes: HostSizes;
  /** In milliseconds. */
  readonly range: { readonly from: number; readonly to: number };
}

function Card({ card, seen, sizes, range }: CardProps): JSX.Element | null {
  const pointed = useSignal<number | undefined>(undefined);
  const { title } = card;
  const last = seen.samples.at(-1);
  if (!last) return null;
  const data = {
    columns: columnsOf(seen, card),
    from: range.from / 1000,
    to: range.to / 1000,
    top: card.top?.(sizes) ?? null,
  };
  return (
    <article class="card">
      <h2>{title}</h2>
      <Value card={card} last={last} pointed={seen.samples[pointed.value ?? -1]} sizes={sizes} />
      <Chart
        label={`${title}: now ${card.text(last)} ${card.detail(last, sizes)}`}
        lines={LINES.get(title) ?? []}
        data={data}
        onPoint={(index) => (pointed.value = index)}
      />
    </article>
  );
}

interface ValueProps extends Pick<CardProps, 'card' | 'sizes'> {
  readonly last: HostSample;
  /** The one of the time that is pointed at. */
  readonly pointed: HostSample | undefined;
}

/** The value at the time that is pointed at, and that time; else the newest one. */
function Value({ card, last, pointed, sizes }: ValueProps): JSX.Element {
  const detail = pointed ? `at ${formatClock(Date.parse(pointed.at))}` : card.detail(last, sizes);
  return (
    <>
      <p class="value">{card.text(pointed ?? last)}</p>
      <p class="detail" title={card.hint?.(last) ?? detail}>
        {detail}
      </p>
    </>
  );
}
