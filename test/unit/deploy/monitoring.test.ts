import { readFileSync } from 'node:fs';

import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

import { ERROR_CODES } from '../../../src/core/errors.js';
import { type Metric, METRIC_PREFIX, METRICS } from '../../../src/core/metrics.js';
import { requests } from '../../../src/core/protocol/requests.js';
import { PrometheusMetrics } from '../../../src/transports/http/prometheus.js';
import { readQuery } from './promql.js';

const read = (path: string): string => readFileSync(new URL(`../../../deploy/${path}`, import.meta.url), 'utf8');

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const { groups } = parse(read('prometheus/alerts.yml')) as { groups: readonly { rules: readonly Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const dashboard = JSON.parse(read('grafana/shell-adapter.json')) as {
  readonly uid: string;
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly { readonly name: string }[] };
};
/** Grafana replaces its variables before Prometheus reads an expression. */
const withoutVariables = (expression: string): string =>
  expression.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.+');
const targets = dashboard.panels.flatMap(({ title, targets: own = [] }) => own.map((target) => ({ title, ...target })));

/** What Prometheus adds to each series, and the metric that it makes of each target. */
const TARGET_LABELS = ['job', 'instance'];
const TARGET_METRICS = ['up'];

/** A metric of prom-client, whose types leave this out. */
interface RegisteredMetric {
  readonly name: string;
  readonly type: string;
  readonly labelNames: readonly string[];
}

/** The labels of each series of a daemon, and the values of those whose values are fixed. */
function knownSeries(): Map<string, Map<string, Set<string>>> {
  const series = new Map<string, Map<string, Set<string>>>();
  const add = (name: string, kind: string, labels: Map<string, Set<string>>) => {
    const isHistogram = kind === 'histogram';
    if (isHistogram) series.set(`${name}_bucket`, new Map([...labels, ['le', new Set()]]));
    for (const part of isHistogram ? ['_sum', '_count'] : ['']) series.set(name + part, labels);
  };
  const registry = new Registry();
  void new PrometheusMetrics(registry);
  for (const { name, type, labelNames } of registry.getMetricsAsArray() as unknown as readonly RegisteredMetric[]) {
    if (!name.startsWith(METRIC_PREFIX)) add(name, type, new Map(labelNames.map((label) => [label, new Set()])));
  }
  for (const [name, { kind, labels }] of Object.entries<Metric>(METRICS)) {
    add(METRIC_PREFIX + name, kind, new Map(Object.entries(labels).map(([label, values]) => [label, new Set(values)])));
  }
  return series;
}

const known = knownSeries();

/** What is wrong with an expression: metrics and labels that do not exist, values that a label never has. */
function faultsOf(expression: string): string[] {
  const { selectors, groupings } = readQuery(expression);
  const labels = new Set([
    ...TARGET_LABELS,
    ...selectors.flatMap(({ metric }) => [...(known.get(metric)?.keys() ?? [])]),
  ]);
  return [
    ...groupings.flatMap((label) => (labels.has(label) ? [] : [`no label ${label} to group by`])),
    ...selectors.flatMap(({ metric, matchers }) => {
      if (TARGET_METRICS.includes(metric)) return [];
      const series = known.get(metric);
      if (!series) return [`no metric ${metric}`];
      return matchers.flatMap(({ label, operator, value }) => {
        if (TARGET_LABELS.includes(label)) return [];
        const values = series.get(label);
        if (!values) return [`no label ${label} of ${metric}`];
        const wanted = operator === '=~' ? value.split('|') : [value];
        return wanted
          .filter((each) => !isValue(label, each, values))
          .map((each) => `${metric} has no ${label}="${each}"`);
      });
    }),
  ];
}

/** Series of failures, and of requests' times, are exported with the first of them. */
const isValue = (label: string, value: string, exported: ReadonlySet<string>): boolean =>
  exported.has(value) ||
  (label === 'outcome' && (value === 'ok' || value in ERROR_CODES)) ||
  (label === 'request' && value in requests);

describe('the alert rules', () => {
  it.each(rules.map((rule) => [rule.alert, rule] as const))('%s asks for what is there', (_, { expr }) => {
    expect(faultsOf(expr)).toEqual([]);
  });

  it('have names of their own, a severity, and say what to do', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const { alert, labels, annotations } of rules) {
      expect(['critical', 'warning', 'info'], alert).toContain(labels.severity);
      expect(annotations.summary, alert).toMatch(/\{\{ \$labels\.instance \}\}/);
      expect(annotations.description, alert).toMatch(/\.$/);
    }
  });

  it('are explained by the page', () => {
    const page = readFileSync(new URL('../../../docs/operate/deployment.md', import.meta.url), 'utf8');
    for (const { alert } of rules) expect(page).toContain(`\`${alert}\``);
  });
});

describe('the dashboard of Grafana', () => {
  it.each(targets.map(({ title, expr }) => [title, expr] as const))('%s: %s', (_, expr) => {
    expect(faultsOf(withoutVariables(expr))).toEqual([]);
  });

  it('shows labels in legends that its series have', () => {
    for (const { title, expr, legendFormat } of targets) {
      const { selectors, groupings } = readQuery(withoutVariables(expr));
      const labels = [
        ...TARGET_LABELS,
        ...groupings,
        ...selectors.flatMap(({ metric }) => [...(known.get(metric)?.keys() ?? [])]),
      ];
      for (const [, label = ''] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) expect(labels, title).toContain(label);
    }
  });

  it('has panels with ids of their own, which do not overlap', () => {
    const { panels } = dashboard;
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${String(x + (index % w))},${String(y + Math.floor(index / w))}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });

  it('covers every metric of the daemon', () => {
    const shown = new Set(
      targets.flatMap(({ expr }) => readQuery(withoutVariables(expr)).selectors.map(({ metric }) => metric)),
    );
    const own = [...known.keys()].filter((name) => name.startsWith('shell_adapter_') && !/_(?:sum|count)$/.test(name));
    expect(own.filter((name) => !shown.has(name))).toEqual(UNSHOWN);
  });
});

/** Counted for reports, or constants: no panel needs them. */
const UNSHOWN = [
  'shell_adapter_sessions_opened_total',
  'shell_adapter_llm_call_duration_seconds_bucket',
  'shell_adapter_egress_bytes_total',
  'shell_adapter_uncaught_errors_total',
  'shell_adapter_llm_calls_running',
  'shell_adapter_limit',
];
