// docs/reference/metrics.md: every Prometheus metric with its type, labels and meaning.
import { Registry } from 'prom-client';

import { markdownTable } from '../../dist/core/markdown.js';
import { METRIC_PREFIX, METRICS, seriesOf } from '../../dist/core/metrics.js';
import { PrometheusMetrics } from '../../dist/transports/http/prometheus.js';
import { code, renderPage } from './page.mjs';

/** More values of a label than these are not listed. */
const MAX_VALUES = 8;

/** Renders the page. */
export function renderMetrics() {
  const registry = new Registry();
  new PrometheusMetrics(registry);
  const ofProcess = registry.getMetricsAsArray().filter(({ name }) => !name.startsWith(METRIC_PREFIX));
  return renderPage({
    title: 'Metrics',
    purpose: 'Every Prometheus metric at `/metrics`, with its type, labels and meaning.',
    source: 'src/core/metrics.ts',
    sections: [
      'Only gateways of a [cluster](../operate/cluster.md) have the metrics `cluster_…`. ' +
        'Label values come from fixed lists: no metric contains an id, a command or other text that clients send. ' +
        'Histograms have the series `_bucket`, `_sum` and `_count`.',
      '## Metrics of the daemon',
      markdownTable(['metric', 'type', 'labels', 'meaning'], Object.entries(METRICS).map(describe)),
      '## Metrics of the process',
      'Standard metrics of Node.js and the process:',
      markdownTable(
        ['metric', 'type', 'meaning'],
        ofProcess.map(({ name, type, help }) => [code(name), type, help]),
      ),
    ],
    next: [
      '[Monitoring](../operate/monitoring.md): health checks, and how to collect the metrics.',
      '[Limits](../operate/limits.md): what `limits_exceeded_total` counts.',
    ],
  });
}

/** A row of the table: name, type, labels with their values where they are few, meaning. */
function describe([name, metric]) {
  const { kind, help, labels } = metric;
  const series = kind === 'histogram' ? [] : seriesOf(metric);
  const texts = Object.keys(labels).map((label) => {
    const values = [...new Set(series.map((found) => found[label]))];
    // Of outcomes, error codes appear with their first failure.
    const isListed = values.length > 1 && values.length <= MAX_VALUES && !values.includes('ok');
    return `${code(label)}${isListed ? `: ${values.join(', ')}` : ''}`;
  });
  return [code(METRIC_PREFIX + name), kind, texts.join('; '), help];
}
