import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';

import { Button } from '../../components/button.js';
import { Chart } from '../../components/chart/chart.js';
import { Chip } from '../../components/chip.js';
import type { Column } from '../../components/table/data-table.js';
import { DataTable } from '../../components/table/data-table.js';
import { Loading } from '../../components/states.js';
import { Toolbar } from '../../components/toolbar.js';
import { formatClock } from '../../format/time.js';
import { useDashboard } from '../../state/context.js';
import type { HostSample, HostSizes } from '../../state/wire.js';
import {
  columnsOf,
  HOST_CARDS,
  type HostCard,
  samplesSince,
  type SeenSamples,
  TIME_WINDOWS,
  type TimeWindow,
} from './host-cards.js';

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
