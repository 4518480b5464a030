import { describe, expect, it } from 'vitest';

import { nameWithMarks, placeMarks } from '../../../../../src/dashboard/components/chart.js';
import {
  LIMIT_ROWS,
  marksOf,
  type Resource,
  type SeenWarning,
} from '../../../../../src/dashboard/pages/session/limits-view.js';

/** A time of day in the zone of this machine, as the page shows it. */
const AT = new Date(2026, 0, 31, 12, 3, 4).getTime();

const seen = (resource: Resource, observed: number, more: Partial<SeenWarning['warning']> = {}): SeenWarning => ({
  at: AT,
  warning: { session_id: 's', command_id: null, level: 'warning', resource, limit: 100, observed, ...more },
});

describe('marks of warnings', () => {
  it('tell the time and the share of the limit, and differ by sign and colour', () => {
    const warnings = [seen('memory_mb', 104.4, { level: 'exceeded' }), seen('memory_mb', 80)];
    expect(marksOf(warnings, 'memory_mb')).toEqual([
      { at: AT / 1000, tone: 'bad', sign: '×', text: 'exceeded at 12:03:04: Memory at 104 % of its limit' },
      { at: AT / 1000, tone: 'warn', sign: '!', text: 'warning at 12:03:04: Memory at 80 % of its limit' },
    ]);
  });

  it('are in the chart of their resource alone; some have no chart', () => {
    const warnings = (['cpu_percent', 'cpu_seconds', 'memory_mb', 'processes', 'disk_mb', 'disk_free_mb'] as const).map(
      (resource) => seen(resource, 90),
    );
    const texts = LIMIT_ROWS.map(({ resource }) => marksOf(warnings, resource).map(({ text }) => text.slice(21)));
    expect(texts).toEqual([
      ['CPU at 90 % of its limit'],
      ['Memory at 90 % of its limit'],
      ['Processes at 90 % of its limit'],
      ['Disk writes at 90 % of its limit'],
    ]);
  });
});

describe('marks of a chart', () => {
  const mark = (at: number) => ({ at, tone: 'warn', sign: '!', text: `at ${at}` }) as const;

  it('are placed by their time, those that are too old left out and those that have just come at the edge', () => {
    const placed = placeMarks([mark(210.4), mark(200), mark(150), mark(99)], { from: 100, to: 200 });
    expect(placed.map(({ share }) => share)).toEqual([1, 1, 0.5]);
  });

  it('are part of its name, the newest three', () => {
    expect(nameWithMarks('Memory: now 1 MB', [])).toBe('Memory: now 1 MB');
    const marks = [5, 4, 3, 2, 1].map(mark);
    expect(nameWithMarks('Memory: now 1 MB', marks)).toBe('Memory: now 1 MB; at 5; at 4; at 3; and 2 earlier');
  });
});
