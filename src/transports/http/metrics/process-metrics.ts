import { performance } from 'node:perf_hooks';

import { collectDefaultMetrics, Counter, type Registry } from 'prom-client';

/** In milliseconds, one day: prom-client's event loop monitor cannot be disabled, but its interval can be long. */
const NO_MONITOR_MS = 86_400_000;
/** Metrics that only this monitor provides. */
const MONITORED = /^nodejs_eventloop_lag_\w+_seconds$/;

/**
 * Registers metrics of the process: prom-client's defaults, except the statistics of event loop delay. For these it
 * wakes the process 100 times per second, which costs 1 % of a core while the daemon is idle. Event loop utilisation
 * costs nothing, and shows the load.
 *
 * prom-client's observers in Node.js stay active until the process ends, without keeping it alive.
 */
export function registerProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NO_MONITOR_MS });
  for (const { name } of registry.getMetricsAsArray()) if (MONITORED.test(name)) registry.removeSingleMetric(name);
  const time: Counter<'state'> = new Counter({
    name: 'shell_adapter_event_loop_seconds_total',
    help: 'Time that the event loop was active or idle.',
    labelNames: ['state'],
    registers: [registry],
    collect: () => {
      const { active, idle } = performance.eventLoopUtilization();
      time.reset();
      time.inc({ state: 'active' }, active / 1000);
      time.inc({ state: 'idle' }, idle / 1000);
    },
  });
}
