// docs/reference/metrics.md: every Prometheus metric with its type, labels and meaning.
import { Registry } from 'prom-client';

import { markdownTable } from '../../dist/core/markdown.js';
import { PrometheusMetrics } from '../../dist/transports/http/prometheus.js';
import { code, renderPage } from './page.mjs';

const PREFIX = 'shell_adapter_';
/** More values of a label than these are not listed. */
const MAX_VALUES = 8;
/** Values of all gauges for a daemon without work. */
const IDLE = {
  clients: 0,
  sessionsByShell: {},
  runningCommands: { session: 0, one_shot: 0 },
  queuedCommands: 0,
  llmCalls: [],
  memoryBytes: 0,
  processes: 0,
  limits: {},
  spoolBytes: 0,
};

/** Renders the page. */
export async function renderMetrics() {
  const registry = new Registry();
  const prometheus = new PrometheusMetrics(registry);
  prometheus.watch([], () => Promise.resolve(IDLE));
  prometheus.watchWorkers(() => []);
  prometheus.watchRegistry(() => 0);
  const metrics = registry.getMetricsAsArray();
  const own = metrics.filter(({ name }) => name.startsWith(PREFIX));
  const rows = await Promise.all(own.map(describe));
  return renderPage({
    title: 'Metrics',
    purpose: 'Every Prometheus metric at `/metrics`, with its type, labels and meaning.',
    source: 'src/transports/http',
    sections: [
      'Only gateways of a [cluster](../operate/cluster.md) have the metrics `cluster_…`. ' +
        'Label values come from fixed lists: no metric contains an id, a command or other text that clients send. ' +
        'Histograms have the series `_bucket`, `_sum` and `_count`.',
      '## Metrics of the daemon',
      markdownTable(['metric', 'type', 'labels', 'meaning'], rows),
      '## Metrics of the process',
      'Standard metrics of Node.js and the process:',
      markdownTable(
        ['metric', 'type', 'meaning'],
        metrics.filter((metric) => !own.includes(metric)).map(({ name, type, help }) => [code(name), type, help]),
      ),
    ],
    next: [
      '[Monitoring](../operate/monitoring.md): health checks, and how to collect the metrics.',
      '[Limits](../operate/limits.md): what `limits_exceeded_total` counts.',
    ],
  });
}

/** A row of the table: name, type, labels with their values where they are few, meaning. */
async function describe(metric) {
  const { values } = await metric.get();
  const labels = metric.labelNames.map((label) => {
    const found = [...new Set(values.map(({ labels: bound }) => bound[label]))].filter((value) => value !== undefined);
    // Of outcomes, error codes appear with their first failure.
    const isListed = found.length > 1 && found.length <= MAX_VALUES && !found.includes('ok');
    return `${code(label)}${isListed ? `: ${found.join(', ')}` : ''}`;
  });
  return [code(metric.name), metric.type, labels.join('; '), metric.help];
}
