import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { expect, it } from 'vitest';

import { mergeExpositions } from '../../../../../src/transports/http/prometheus.js';

/** What a process renders that has counted this. */
async function rendered(ended: number, seconds: readonly number[]): Promise<string> {
  const registry = new Registry();
  const registers = [registry];
  new Counter({ name: 'ended_total', help: 'Ends.', labelNames: ['why'], registers }).inc({ why: 'a "b" }' }, ended);
  new Gauge({ name: 'shell_adapter_limit', help: 'Limits.', labelNames: ['limit'], registers }).set({ limit: 'x' }, 7);
  const histogram = new Histogram({ name: 'took_seconds', help: 'Times.', buckets: [1, 5], registers });
  for (const value of seconds) histogram.observe(value);
  return registry.metrics();
}

it('adds up what several processes have counted, and keeps what is only a setting', async () => {
  const merged = mergeExpositions([await rendered(2, [0.5]), await rendered(3, [2, 9])]);
  expect(merged.split('\n').filter((line) => line !== '')).toEqual([
    '# HELP ended_total Ends.',
    '# TYPE ended_total counter',
    'ended_total{why="a \\"b\\" }"} 5',
    '# HELP shell_adapter_limit Limits.',
    '# TYPE shell_adapter_limit gauge',
    'shell_adapter_limit{limit="x"} 7',
    '# HELP took_seconds Times.',
    '# TYPE took_seconds histogram',
    'took_seconds_bucket{le="1"} 1',
    'took_seconds_bucket{le="5"} 2',
    'took_seconds_bucket{le="+Inf"} 3',
    'took_seconds_sum 11.5',
    'took_seconds_count 3',
  ]);
});

it('keeps what only one process has, and one exposition as it is', async () => {
  const text = await rendered(1, []);
  expect(mergeExpositions([text])).toBe(text);
  const endless = '# HELP endless E.\n# TYPE endless gauge\nendless +Inf\n';
  expect(mergeExpositions([endless, endless])).toBe(endless);
  expect(mergeExpositions([text, '# HELP other Other.\n# TYPE other gauge\nother 1\n'])).toContain('\nother 1\n');
});
