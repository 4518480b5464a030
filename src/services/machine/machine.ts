import type { Principal } from '../../core/principal.js';
import { AdapterError, type ErrorBody } from '../../core/errors.js';
import type { Limits } from '../../core/limits.js';
import { METRICS, type Metrics, providerLabels, type Readings } from '../../core/metrics.js';
import { PROTOCOL_VERSION } from '../../core/protocol/fields.js';
import type { Answer } from '../../core/protocol/requests.js';
import type { NodeInfo } from '../../core/protocol/requests/nodes.js';
import type { EventPayload } from '../../core/protocol/results.js';
import { settledWithin } from '../../core/time.js';
import type { LimitMechanism } from '../../engine/limits/mechanism.js';
import type { OneShotRunner } from '../../engine/one-shot/one-shot.js';
import type { Platform } from '../../engine/platform/platform.js';
import type { ShellPool } from '../../engine/shell/shell-pool.js';
import { SHELLS } from '../../engine/shells/list.js';
import { ownUserName } from '../../engine/system/own-user.js';
import type { ClusterPort, RegistryState } from '../cluster-port.js';
import type { Commands } from '../commands/commands.js';
import type { Executions } from '../executions.js';
import type { LlmCalls } from '../llm/calls.js';
import type { Connections } from '../registry/caller.js';
import type { Sessions } from '../sessions/sessions.js';
import { KeptResult } from './kept-result.js';

type MachineCheck = Answer<'examine_machine'>['checks'][number];

/** Examines the machine that the daemon runs on. */
export class Machine {
  readonly #examination: KeptResult<Answer<'examine_machine'>>;

  /** @param examine runs all checks; passed in, because they know the whole engine */
  constructor(examine: () => Promise<readonly MachineCheck[]>) {
    this.#examination = new KeptResult(async () => ({
      checks: [...(await examine())],
      checked_at: new Date().toISOString(),
    }));
  }

  /** Runs all checks, or returns a recent result. */
  examine(): Promise<Answer<'examine_machine'>> {
    return this.#examination.get();
  }
}

/** The settings in effect that `daemon_status` reports. */
export type StatusSettings = Pick<
  Answer<'daemon_status'>,
  'configuration_file' | 'workspace_directory' | 'state_directory' | 'log_file' | 'dashboard' | 'confirmed_by'
>;

export class DaemonStatus {
  /** Payload of the first event of every connection. */
  readonly identity: EventPayload<'daemon_info'>;
  readonly #platform: Platform;
  readonly #settings: () => StatusSettings;
  readonly #sessions: Sessions;
  readonly #executions: Executions;
  readonly #connections: Connections;
  readonly #startedAt = new Date(Date.now() - process.uptime() * 1000);

  constructor(
    run: string,
    version: string,
    platform: Platform,
    settings: () => StatusSettings,
    sessions: Sessions,
    executions: Executions,
    connections: Connections,
  ) {
    this.#platform = platform;
    this.#settings = settings;
    this.#sessions = sessions;
    this.#executions = executions;
    this.#connections = connections;

    this.identity = { instance_id: run, adapter_version: version, protocol_version: PROTOCOL_VERSION };
  }

  describe({ name, role, runAs, isLocalPeer }: Principal): Answer<'daemon_status'> {
    return {
      ...this.identity,
      pid: process.pid,
      process_identity: this.#platform.processes.identityOf(process.pid) ?? null,
      user: ownUserName(),
      started_at: this.#startedAt.toISOString(),
      uptime_ms: Math.round(process.uptime() * 1000),
      ...this.#settings(),
      sessions: this.#sessions.registry.visible,
      running_commands: this.#sessions.registry.running + this.#executions.running,
      clients: this.#connections.all().length,
      caller: { name, role, ...(runAs !== undefined && { run_as: runAs }), has_token: !isLocalPeer },
    };
  }
}

/** Timeout of an answer, in milliseconds: most health checks time out after one second. */
const PATIENCE_MS = 900;

/** Errors that nothing has caught. The daemon goes on after one, but what waited for its cause may hang. */
interface UncaughtErrors {
  readonly count: number;
  readonly lastAt: Date;
}

/** Reports whether the daemon would accept a command now. */
export class Readiness {
  readonly #isClosing: () => boolean;
  readonly #pool: ShellPool;
  readonly #cluster: ClusterPort;
  readonly #metrics: Metrics;
  #uncaught: UncaughtErrors | undefined;

  constructor(isClosing: () => boolean, pool: ShellPool, cluster: ClusterPort, metrics: Metrics) {
    this.#isClosing = isClosing;
    this.#pool = pool;
    this.#cluster = cluster;
    this.#metrics = metrics;
  }

  /** Whether the registry of the cluster answers; undefined without one. What is open goes on without it. */
  get registry(): RegistryState | undefined {
    return this.#cluster.membership?.registry;
  }

  /** The uncaught errors of this process; undefined without one. Their texts may have secrets, and are in the log alone. */
  get uncaught(): UncaughtErrors | undefined {
    return this.#uncaught;
  }

  countUncaught(): void {
    this.#uncaught = { count: (this.#uncaught?.count ?? 0) + 1, lastAt: new Date() };
    this.#metrics.count('uncaught_errors_total', {});
  }

  /**
   * Returns why a command would be refused: `SHUTTING_DOWN`, `SHELL_FAILED` or `RESOURCE_EXHAUSTED`, with a message;
   * undefined when it would be accepted. Costs nothing while shells start; after a failed start, another one is tried.
   */
  async findObstacle(): Promise<ErrorBody | undefined> {
    if (this.#isClosing()) return { code: 'SHUTTING_DOWN', message: 'the daemon is being stopped' };
    const elsewhere = this.#cluster.findObstacle();
    if (elsewhere || !this.#cluster.runsSessions) return elsewhere;
    const obstacle = this.#findShellObstacle();
    if (await settledWithin(obstacle, PATIENCE_MS)) return obstacle;
    const message = 'the last shell did not start, and the one that is being tried has not come up yet';
    return { code: 'SHELL_FAILED', message };
  }

  async #findShellObstacle(): Promise<ErrorBody | undefined> {
    try {
      await this.#pool.assertCanStart();
      return undefined;
    } catch (error) {
      if (error instanceof AdapterError) return error.toBody();
      return { code: 'SHELL_FAILED', message: `a shell could not be started: ${(error as Error).message}` };
    }
  }
}

/** Sources of the gauges of a daemon. */
interface WorkloadSources {
  readonly sessions: Sessions;
  readonly commands: Commands;
  readonly oneShots: OneShotRunner;
  readonly llm: LlmCalls;
  readonly mechanism: LimitMechanism;
  readonly limits: Limits;
  readonly clients: number;
}

/** Samples the workload. No counters are maintained: it costs nothing until it is called. */
export async function sampleWorkload(sources: WorkloadSources): Promise<Readings<'daemon'>> {
  const { sessions, commands, oneShots, llm, mechanism, limits, clients } = sources;
  const sessionsByShell = new Map(SHELLS.map(({ name }) => [name, 0]));
  const running = { session: 0, one_shot: oneShots.running };
  let queued = 0;
  let { spoolBytes } = commands;
  for (const { session, shellName, isHidden, budget } of sessions.registry.all()) {
    sessionsByShell.set(shellName, (sessionsByShell.get(shellName) ?? 0) + 1);
    if (session.running) running[isHidden ? 'one_shot' : 'session'] += 1;
    queued += session.queued.length;
    spoolBytes += budget.usedBytes;
  }
  const { memoryBytes, tasks } = await mechanism.totals();
  return {
    sessions_open: [...sessionsByShell].map(([shell, sessionCount]) => [{ shell }, sessionCount]),
    commands_running: [
      [{ kind: 'session' }, running.session],
      [{ kind: 'one_shot' }, running.one_shot],
    ],
    commands_queued: queued,
    llm_calls_running: llm.providers.running.map(({ candidate, calls }) => [providerLabels(candidate), calls]),
    clients_connected: clients,
    memory_bytes: memoryBytes,
    processes: tasks,
    limit: Object.entries(limits).flatMap(([limit, value]) => (value === undefined ? [] : [[{ limit }, value]])),
    spool_bytes: spoolBytes,
  };
}

/** Counts the workers that are registered at a gateway, and its links to them. */
export function sampleWorkers(nodes: readonly NodeInfo[]): Readings<'gateway'> {
  const workers = nodes.filter(({ url }) => url !== null);
  const broken = workers.filter(({ problem }) => problem !== null).length;
  const countIn = (state: NodeInfo['state']) => workers.filter((worker) => worker.state === state).length;
  return {
    cluster_links: [
      [{ state: 'connected' }, workers.length - broken],
      [{ state: 'broken' }, broken],
    ],
    cluster_nodes: METRICS.cluster_nodes.labels.state.map((state) => [{ state }, countIn(state)]),
  };
}
