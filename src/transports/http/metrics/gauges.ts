import { Gauge, type Registry } from 'prom-client';

import { LLM_LABELS, llmLabels } from './llm-metrics.js';
import type { WorkloadSample } from '../../../services/machine/workload.js';

/** Values of all gauges at one moment. */
export interface Sample extends WorkloadSample {
  /** Clients connected over Socket.IO. */
  readonly clients: number;
}

/** Adds a gauge whose values are read from a sample. */
type AddGauge = <L extends string>(
  name: string,
  help: string,
  labelNames: readonly L[],
  read: (gauge: Gauge<L>, sample: Sample) => void,
) => void;

/** Gauges of a registry that are collected together: one sample serves them all. */
function sampledGauges(registry: Registry, take: () => Promise<Sample>): AddGauge {
  let taking: Promise<Sample> | undefined;
  const takeOnce = () =>
    (taking ??= take().finally(() => {
      taking = undefined;
    }));
  return (name, help, labelNames, read) => {
    const gauge = new Gauge({
      name: `shell_adapter_${name}`,
      help,
      labelNames,
      registers: [registry],
      collect: async () => {
        read(gauge, await takeOnce());
      },
    });
  };
}

/** Registers gauges that call `take` on each collection: sampled gauges cannot drift, as incremented ones can. */
export function registerGauges(registry: Registry, take: () => Promise<Sample>): void {
  const add = sampledGauges(registry, take);
  add('sessions_open', 'Open sessions.', ['shell'], (gauge, { sessionsByShell }) => {
    for (const [shell, sessions] of Object.entries(sessionsByShell)) gauge.set({ shell }, sessions);
  });
  add('commands_running', 'Running commands.', ['kind'], (gauge, { runningCommands }) => {
    for (const [kind, commands] of Object.entries(runningCommands)) gauge.set({ kind }, commands);
  });
  add('commands_queued', 'Commands that wait for an earlier one of their session.', [], (gauge, sample) => {
    gauge.set(sample.queuedCommands);
  });
  add('llm_calls_running', 'LLM calls that run or wait.', LLM_LABELS, (gauge, { llmCalls }) => {
    for (const { candidate, calls } of llmCalls) gauge.set(llmLabels(candidate), calls);
  });
  add('clients_connected', 'Clients connected over Socket.IO.', [], (gauge, { clients }) => {
    gauge.set(clients);
  });
  add('memory_bytes', 'Memory of commands and shells.', [], (gauge, { memoryBytes }) => {
    gauge.set(memoryBytes);
  });
  add('processes', 'Processes and threads of commands and shells.', [], (gauge, { processes }) => {
    gauge.set(processes);
  });
  add('limit', 'Configured limits of a session, each in the unit of its name.', ['limit'], (gauge, { limits }) => {
    gauge.reset();
    for (const [limit, value] of Object.entries(limits)) if (value !== undefined) gauge.set({ limit }, value);
  });
  add('spool_bytes', 'Bytes of output that are kept for `read_output`, in memory and on disk.', [], (gauge, sample) => {
    gauge.set(sample.spoolBytes);
  });
}
