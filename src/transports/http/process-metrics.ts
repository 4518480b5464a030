import { performance } from 'node:perf_hooks';

import { collectDefaultMetrics, Counter, type Registry } from 'prom-client';

/** Milliseconds, a day: prom-client has no way to leave its monitor of the event loop out, but a timer for it can be slow. */
const NO_MONITOR_MS = 86_400_000;
/** What only that monitor knows. */
const MONITORED = /^nodejs_eventloop_lag_\w+_seconds$/;

/**
 * Shows figures of the process: prom-client's own, except for its statistics of the event loop's delay. For these it wakes
 * the process up a hundred times a second, which costs 1 % of a core while the daemon has nothing to do. The time that the
 * loop has worked and waited costs nothing, and tells how busy it is.
 *
 * What prom-client watches in Node.js it watches until the process ends, without keeping that from ending.
 */
export function registerProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NO_MONITOR_MS });
  for (const { name } of registry.getMetricsAsArray()) if (MONITORED.test(name)) registry.removeSingleMetric(name);
  const time: Counter<'state'> = new Counter({
    name: 'shell_adapter_event_loop_seconds_total',
    help: 'Time that the event loop has worked, and waited for something to do.',
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
