import { describe, expect, it } from 'vitest';

import { requests } from '../../../../src/core/protocol/requests.js';
import type { NodeInfo } from '../../../../src/core/protocol/requests/nodes.js';
import { PrometheusMetrics, type Sample } from '../../../../src/transports/http/prometheus.js';
import { readPage, readSamples } from '../../../support/network/prometheus.js';

const IDLE: Sample = {
  sessionsByShell: { bash: 0, sh: 0 },
  runningCommands: { session: 0, one_shot: 0 },
  queuedCommands: 0,
  llmCalls: [],
  clients: 0,
  spoolBytes: 0,
  memoryBytes: 0,
  processes: 0,
  limits: {},
};

const read = async (metrics: PrometheusMetrics) => readSamples(await metrics.render(), 'shell_adapter_');

describe('counters', () => {
  it('are there from the beginning, as 0: for every shell, reason, status, stream and request', async () => {
    const metrics = new PrometheusMetrics();
    metrics.watch(Object.keys(IDLE.sessionsByShell), () => Promise.resolve(IDLE));
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
    metrics.sessionOpened('zsh');
    metrics.sessionClosed('lifetime');
    metrics.sessionClosed('lifetime');
    metrics.shellReplaced('ended');
    metrics.output.stdout(5);
    metrics.output.stdout(0);
    metrics.output.stderr(7);
    metrics.commandEnded('session', 'killed', 30);
    metrics.requestAnswered('open_session', 'SESSION_LIMIT', 1);
    metrics.requestAnswered('open_session', 'SESSION_LIMIT', 1);
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
});

describe('histograms', () => {
  it('take milliseconds and show seconds', async () => {
    const metrics = new PrometheusMetrics();
    for (const ms of [0.9, 2.5, 250, 3_600_000]) metrics.commandEnded('one_shot', 'completed', ms);
    const all = await read(metrics);
    const bucket = (le: string) => all.get(`command_duration_seconds_bucket{le="${le}",kind="one_shot"}`);
    expect(['0.001', '0.0025', '0.1', '0.25', '600', '+Inf'].map(bucket)).toEqual([1, 2, 2, 3, 3, 4]);
    expect(all.get('command_duration_seconds_sum{kind="one_shot"}')).toBeCloseTo(3600.2534, 6);
  });

  it('keep requests apart', async () => {
    const metrics = new PrometheusMetrics();
    metrics.requestAnswered('get_session', 'ok', 1);
    metrics.requestAnswered('unknown', 'UNKNOWN_REQUEST', 1);
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
    metrics.watch([], () => Promise.resolve({ ...IDLE, clients }));
    expect((await read(metrics)).get('clients_connected')).toBe(1);
    clients = 5;
    expect((await read(metrics)).get('clients_connected')).toBe(5);
  });
});

describe('the metrics of a gateway', () => {
  const worker = (state: NodeInfo['state'], problem: string | null = null) => ({ state, problem }) as NodeInfo;

  it('are those of its workers at the moment', async () => {
    const metrics = new PrometheusMetrics();
    metrics.watchWorkers(() => [worker('live'), worker('draining'), worker('suspect', 'gone')]);
    metrics.requestRelayed('ok', 250);
    metrics.requestRelayed('NODE_LOST', 250);
    metrics.nodeLost();
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
    metrics.requestRelayed('ok', 1);
    metrics.nodeLost();
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
    one.sessionClosed('client');
    expect((await read(other)).get('sessions_closed_total{reason="client"}')).toBe(0);
  });
});

describe('calls of LLM providers', () => {
  const tool = { provider: 'shell', shellProvider: 'claude' } as const;
  const service = { provider: 'openai', shellProvider: null } as const;

  it('are counted by provider and outcome, with their time and tokens', async () => {
    const metrics = new PrometheusMetrics();
    metrics.watch([], () => Promise.resolve({ ...IDLE, llmCalls: [{ candidate: tool, calls: 2 }] }));
    metrics.llmAnswered(tool, 'ok', 1500);
    metrics.llmAnswered(service, 'LLM_AUTH', 20);
    metrics.llmUsed(tool, { prompt_tokens: 10, completion_tokens: 3 });
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
    metrics.llmUsed(tool, { prompt_tokens: tokens, completion_tokens: 1 });
    const all = await read(metrics);
    expect(all.get('llm_tokens_total{provider="shell",shell_provider="claude",kind="prompt"}')).toBe(0);
    expect(all.get('llm_tokens_total{provider="shell",shell_provider="claude",kind="completion"}')).toBe(1);
  });
});
