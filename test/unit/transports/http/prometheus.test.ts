import { describe, expect, it } from 'vitest';

import { providerLabels, type Readings } from '../../../../src/core/metrics.js';
import { requests } from '../../../../src/core/protocol/requests.js';
import type { NodeInfo } from '../../../../src/core/protocol/requests/nodes.js';
import { sampleWorkers } from '../../../../src/services/machine/machine.js';
import { PrometheusMetrics } from '../../../../src/transports/http/prometheus.js';
import { readPage, readSamples } from '../../../support/network/prometheus.js';

const IDLE: Readings<'daemon'> = {
  sessions_open: [],
  commands_running: [],
  commands_queued: 0,
  llm_calls_running: [],
  clients_connected: 0,
  memory_bytes: 0,
  processes: 0,
  limit: [],
  spool_bytes: 0,
};

const read = async (metrics: PrometheusMetrics) => readSamples(await metrics.render(), 'shell_adapter_');

describe('counters', () => {
  it('are there from the beginning, as 0: for every reason, status, stream and request', async () => {
    const metrics = new PrometheusMetrics();
    metrics.watch('daemon', () => IDLE);
    metrics.count('sessions_opened_total', { shell: 'sh' }, 0);
    const all = await read(metrics);
    const names = [
      'sessions_opened_total{shell="sh"}',
      'sessions_closed_total{reason="idle"}',
      'shell_restarts_total{cause="reset"}',
      'commands_finished_total{kind="one_shot",status="interrupted"}',
      'output_bytes_total{stream="stderr"}',
      ...Object.keys(requests).map((name) => `requests_total{request="${name}",outcome="ok"}`),
      'requests_total{request="unknown",outcome="UNKNOWN_REQUEST"}',
    ];
    for (const name of names) expect(all.get(name), name).toBe(0);
  });

  it('count what they are told', async () => {
    const metrics = new PrometheusMetrics();
    metrics.count('sessions_opened_total', { shell: 'zsh' });
    metrics.count('sessions_closed_total', { reason: 'lifetime' });
    metrics.count('sessions_closed_total', { reason: 'lifetime' });
    metrics.count('shell_restarts_total', { cause: 'ended' });
    metrics.count('output_bytes_total', { stream: 'stdout' }, 5);
    metrics.count('output_bytes_total', { stream: 'stdout' }, 0);
    metrics.count('output_bytes_total', { stream: 'stderr' }, 7);
    metrics.count('commands_finished_total', { status: 'killed', kind: 'session' });
    metrics.count('requests_total', { request: 'open_session', outcome: 'SESSION_LIMIT' });
    metrics.count('requests_total', { request: 'open_session', outcome: 'SESSION_LIMIT' });
    expect(Object.fromEntries(await read(metrics))).toMatchObject({
      'sessions_opened_total{shell="zsh"}': 1,
      'sessions_closed_total{reason="lifetime"}': 2,
      'shell_restarts_total{cause="ended"}': 1,
      'output_bytes_total{stream="stdout"}': 5,
      'output_bytes_total{stream="stderr"}': 7,
      'commands_finished_total{kind="session",status="killed"}': 1,
      'requests_total{request="open_session",outcome="SESSION_LIMIT"}': 2,
      'requests_total{request="open_session",outcome="ok"}': 0,
    });
  });

  it('count all that happens between two readings', async () => {
    const metrics = new PrometheusMetrics();
    for (const expected of [1000, 2000]) {
      for (let number = 0; number < 1000; number += 1) metrics.count('uncaught_errors_total', {});
      expect((await read(metrics)).get('uncaught_errors_total')).toBe(expected);
    }
  });

  it('take names and labels of the table alone', () => {
    const { count, observe } = new PrometheusMetrics();
    const wrong = [
      // @ts-expect-error There is no such metric.
      () => count('sessions_opened', { shell: 'zsh' }),
      // @ts-expect-error It is a histogram.
      () => count('command_duration_seconds', { kind: 'session' }),
      // @ts-expect-error It is a counter.
      () => observe('sessions_opened_total', 1, { shell: 'zsh' }),
      // @ts-expect-error It has another label.
      () => count('sessions_opened_total', { name: 'zsh' }),
      // @ts-expect-error It has one more label.
      () => count('commands_finished_total', { kind: 'session' }),
      // @ts-expect-error It has no such value.
      () => count('sessions_closed_total', { reason: 'bored' }),
      // @ts-expect-error It has no labels.
      () => count('uncaught_errors_total', { code: 'INTERNAL' }),
    ];
    expect(wrong).toHaveLength(7);
  });
});

describe('histograms', () => {
  it('put each value into its buckets', async () => {
    const metrics = new PrometheusMetrics();
    for (const seconds of [0.0009, 0.0025, 0.25, 3600]) {
      metrics.observe('command_duration_seconds', seconds, { kind: 'one_shot' });
    }
    const all = await read(metrics);
    const bucket = (le: string) => all.get(`command_duration_seconds_bucket{le="${le}",kind="one_shot"}`);
    expect(['0.001', '0.0025', '0.1', '0.25', '600', '+Inf'].map(bucket)).toEqual([1, 2, 2, 3, 3, 4]);
    expect(all.get('command_duration_seconds_sum{kind="one_shot"}')).toBeCloseTo(3600.2534, 6);
  });

  it('keep requests apart', async () => {
    const metrics = new PrometheusMetrics();
    metrics.observe('request_duration_seconds', 0.001, { request: 'unknown' });
    metrics.observe('request_duration_seconds', 0.001, { request: 'get_session' });
    const all = await read(metrics);
    const counts = [...all].filter(([name]) => name.startsWith('request_duration_seconds_count'));
    expect(counts).toEqual([
      ['request_duration_seconds_count{request="get_session"}', 1],
      ['request_duration_seconds_count{request="unknown"}', 1],
    ]);
  });
});

describe('gauges', () => {
  it('show what is true at the time of the question', async () => {
    const metrics = new PrometheusMetrics();
    let clients = 1;
    metrics.watch('daemon', () => Promise.resolve({ ...IDLE, clients_connected: clients }));
    expect((await read(metrics)).get('clients_connected')).toBe(1);
    clients = 5;
    expect((await read(metrics)).get('clients_connected')).toBe(5);
  });

  it('are read once for questions at the same time', async () => {
    const metrics = new PrometheusMetrics();
    let readings = 0;
    metrics.watch('daemon', () => Promise.resolve({ ...IDLE, processes: (readings += 1) }));
    const both = await Promise.all([read(metrics), read(metrics)]);
    expect(both.map((all) => all.get('processes'))).toEqual([1, 1]);
    expect((await read(metrics)).get('processes')).toBe(2);
  });

  it('show labels no longer that are gone, and the last value where there is no new one', async () => {
    const metrics = new PrometheusMetrics();
    let limit: Readings<'daemon'>['limit'] = [[{ limit: 'memory_mb' }, 5]];
    let age: number | undefined = 3;
    metrics.watch('daemon', () => ({ ...IDLE, limit }));
    metrics.watch('registry', () => ({ cluster_lease_age_seconds: age }));
    const shown = async () =>
      Object.fromEntries([...(await read(metrics))].filter(([name]) => /^(?:limit\{|cluster_lease)/.test(name)));
    expect(await shown()).toEqual({ 'limit{limit="memory_mb"}': 5, cluster_lease_age_seconds: 3 });
    limit = [];
    age = undefined;
    expect(await shown()).toEqual({ cluster_lease_age_seconds: 3 });
  });
});

describe('the metrics of a gateway', () => {
  const worker = (state: NodeInfo['state'], problem: string | null = null) => ({ state, problem }) as NodeInfo;

  it('are those of its workers at the moment', async () => {
    const metrics = new PrometheusMetrics();
    metrics.watch('gateway', () => sampleWorkers([worker('live'), worker('draining'), worker('suspect', 'gone')]));
    for (const outcome of ['ok', 'NODE_LOST'] as const) {
      metrics.count('cluster_relayed_requests_total', { outcome });
      metrics.observe('cluster_relay_seconds', 0.25, {});
    }
    metrics.count('cluster_node_losses_total', {});
    expect(Object.fromEntries(await read(metrics))).toMatchObject({
      'cluster_links{state="connected"}': 2,
      'cluster_links{state="broken"}': 1,
      'cluster_nodes{state="suspect"}': 1,
      'cluster_nodes{state="lost"}': 0,
      'cluster_relayed_requests_total{outcome="ok"}': 1,
      'cluster_relayed_requests_total{outcome="NODE_LOST"}': 1,
      cluster_relay_seconds_sum: 0.5,
      cluster_node_losses_total: 1,
    });
  });

  it('are not there for other daemons', async () => {
    const metrics = new PrometheusMetrics();
    metrics.count('cluster_relayed_requests_total', { outcome: 'ok' });
    metrics.observe('cluster_relay_seconds', 0.001, {});
    metrics.count('cluster_node_losses_total', {});
    expect([...(await read(metrics)).keys()].filter((name) => name.startsWith('cluster_'))).toEqual([]);
  });
});

describe('the figures of the process', () => {
  it('leave out what would wake it up while it has nothing to do', async () => {
    const names = [...readPage(await new PrometheusMetrics().render()).keys()];
    expect(names.filter((name) => name.includes('eventloop_lag'))).toEqual(['nodejs_eventloop_lag_seconds']);
    expect(names).toContain('process_cpu_seconds_total');
  });

  it('are kept apart between two daemons of one process', async () => {
    const [one, other] = [new PrometheusMetrics(), new PrometheusMetrics()];
    one.count('sessions_closed_total', { reason: 'client' });
    expect((await read(other)).get('sessions_closed_total{reason="client"}')).toBe(0);
  });
});

describe('calls of LLM providers', () => {
  const tool = providerLabels({ provider: 'shell', shellProvider: 'claude' });
  const service = providerLabels({ provider: 'openai', shellProvider: null });

  it('are counted by provider and outcome, with their time and tokens', async () => {
    const metrics = new PrometheusMetrics();
    metrics.watch('daemon', () => ({ ...IDLE, llm_calls_running: [[tool, 2]] }));
    metrics.count('llm_calls_total', { ...tool, outcome: 'ok' });
    metrics.observe('llm_call_duration_seconds', 1.5, tool);
    metrics.count('llm_calls_total', { ...service, outcome: 'LLM_AUTH' });
    metrics.observe('llm_call_duration_seconds', 0.02, service);
    metrics.count('llm_tokens_total', { ...tool, kind: 'prompt' }, 10);
    metrics.count('llm_tokens_total', { ...tool, kind: 'completion' }, 3);
    const all = await read(metrics);
    expect(Object.fromEntries([...all].filter(([name]) => /^llm_.*(total|sum|running)/.test(name)))).toEqual({
      'llm_calls_running{provider="shell",shell_provider="claude"}': 2,
      'llm_calls_total{provider="shell",shell_provider="claude",outcome="ok"}': 1,
      'llm_calls_total{provider="openai",shell_provider="",outcome="LLM_AUTH"}': 1,
      'llm_call_duration_seconds_sum{provider="shell",shell_provider="claude"}': 1.5,
      'llm_call_duration_seconds_sum{provider="openai",shell_provider=""}': 0.02,
      'llm_tokens_total{provider="shell",shell_provider="claude",kind="prompt"}': 10,
      'llm_tokens_total{provider="shell",shell_provider="claude",kind="completion"}': 3,
    });
  });

  it.each([Infinity, -5, Number.NaN, '7' as never])('tokens that cannot be (%s) count for nothing', async (tokens) => {
    const metrics = new PrometheusMetrics();
    metrics.count('llm_tokens_total', { ...tool, kind: 'prompt' }, tokens);
    metrics.count('llm_tokens_total', { ...tool, kind: 'completion' }, 1);
    const all = await read(metrics);
    expect(all.get('llm_tokens_total{provider="shell",shell_provider="claude",kind="prompt"}')).toBe(0);
    expect(all.get('llm_tokens_total{provider="shell",shell_provider="claude",kind="completion"}')).toBe(1);
  });
});
