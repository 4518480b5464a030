import type { Principal } from '../../core/principal.js';
import { CONFIRMATION_MODES, type ConfirmationMode } from '../../core/confirmation.js';
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
import type { Commands } from '../commands/commands.js';
import type { ClusterPort, RegistryState } from '../cluster-port.js';
import type { LlmCalls } from '../llm/calls.js';
import type { Sessions } from '../sessions/sessions.js';
import { KeptResult } from './kept-result.js';

/** Result of one check. */
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

/** The parts of the configuration in force that `daemon_status` reports. */
export interface ReportedConfiguration {
  readonly file: string | undefined;
  readonly workspaceDirectory: string;
  readonly stateDirectory: string;
  readonly logFile: string;
  readonly hasDashboard: boolean;
  readonly confirmedBy: readonly ConfirmationMode[];
}

/** What `DaemonStatus` reads from the daemon. */
interface DaemonStatusOptions {
  readonly platform: Platform;
  readonly instanceId: string;
  readonly version: string;
  readonly configuration: () => ReportedConfiguration;
  readonly workload: () => Pick<Answer<'daemon_status'>, 'sessions' | 'running_commands' | 'clients'>;
}

/** Describes this run of the daemon. */
export class DaemonStatus {
  /** Payload of the first event of every connection. */
  readonly identity: EventPayload<'daemon_info'>;
  readonly #options: DaemonStatusOptions;
  readonly #startedAt = new Date(Date.now() - process.uptime() * 1000);

  constructor(options: DaemonStatusOptions) {
    this.#options = options;
    const { instanceId, version } = options;
    this.identity = { instance_id: instanceId, adapter_version: version, protocol_version: PROTOCOL_VERSION };
  }

  /** Returns the answer to `daemon_status`. */
  describe({ name, role, runAs, isLocalPeer }: Principal): Answer<'daemon_status'> {
    const { configuration, workload, platform } = this.#options;
    const { file = null, workspaceDirectory, stateDirectory, logFile, hasDashboard, confirmedBy } = configuration();
    return {
      ...this.identity,
      pid: process.pid,
      process_identity: platform.processes.identityOf(process.pid) ?? null,
      user: ownUserName(),
      started_at: this.#startedAt.toISOString(),
      uptime_ms: Math.round(process.uptime() * 1000),
      configuration_file: file,
      workspace_directory: workspaceDirectory,
      state_directory: stateDirectory,
      log_file: logFile,
      dashboard: hasDashboard,
      ...workload(),
      confirmed_by: CONFIRMATION_MODES.filter((mode) => confirmedBy.includes(mode)),
      caller: { name, role, ...(runAs !== undefined && { run_as: runAs }), has_token: !isLocalPeer },
    };
  }
}

/** Timeout of an answer, in milliseconds: most health checks time out after one second. */
const PATIENCE_MS = 900;

/** Dependencies of `Readiness`. */
interface ReadinessOptions {
  readonly isClosing: () => boolean;
  readonly pool: Pick<ShellPool, 'assertCanStart'>;
  readonly cluster: Pick<ClusterPort, 'findObstacle' | 'runsSessions' | 'membership'>;
  readonly metrics: Metrics;
}

/** Errors that nothing has caught. The daemon goes on after one, but what waited for its cause may hang. */
interface UncaughtErrors {
  readonly count: number;
  readonly lastAt: Date;
}

/** Reports whether the daemon would accept a command now. */
export class Readiness {
  readonly #options: ReadinessOptions;
  #uncaught: UncaughtErrors | undefined;

  constructor(options: ReadinessOptions) {
    this.#options = options;
  }

  /** Whether the registry of the cluster answers; undefined without one. What is open goes on without it. */
  get registry(): RegistryState | undefined {
    return this.#options.cluster.membership?.registry;
  }

  /** The uncaught errors of this process; undefined without one. Their texts may have secrets, and are in the log alone. */
  get uncaught(): UncaughtErrors | undefined {
    return this.#uncaught;
  }

  /** Counts an uncaught error. */
  countUncaught(): void {
    this.#uncaught = { count: (this.#uncaught?.count ?? 0) + 1, lastAt: new Date() };
    this.#options.metrics.count('uncaught_errors_total', {});
  }

  /**
   * Returns why a command would be refused: `SHUTTING_DOWN`, `SHELL_FAILED` or `RESOURCE_EXHAUSTED`, with a message;
   * undefined when it would be accepted. Costs nothing while shells start; after a failed start, another one is tried.
   */
  async findObstacle(): Promise<ErrorBody | undefined> {
    if (this.#options.isClosing()) return { code: 'SHUTTING_DOWN', message: 'the daemon is being stopped' };
    const { cluster } = this.#options;
    const elsewhere = cluster.findObstacle();
    if (elsewhere || !cluster.runsSessions) return elsewhere;
    const obstacle = this.#findShellObstacle();
    if (await settledWithin(obstacle, PATIENCE_MS)) return obstacle;
    const message = 'the last shell did not start, and the one that is being tried has not come up yet';
    return { code: 'SHELL_FAILED', message };
  }

  async #findShellObstacle(): Promise<ErrorBody | undefined> {
    try {
      await this.#options.pool.assertCanStart();
      return undefined;
    } catch (error) {
      if (error instanceof AdapterError) return error.toBody();
      return { code: 'SHELL_FAILED', message: `a shell could not be started: ${(error as Error).message}` };
    }
  }
}

/** Sources of the gauges of a daemon. */
interface WorkloadSources {
  readonly sessions: Pick<Sessions, 'registry'>;
  readonly commands: Pick<Commands, 'spoolBytes'>;
  readonly oneShots: Pick<OneShotRunner, 'running'>;
  readonly llm: LlmCalls;
  readonly mechanism: { readonly mechanism: Pick<LimitMechanism, 'totals'> };
  /** Limits of a session. */
  readonly limits: Limits;
  readonly server: { readonly clients: number };
}

/** Samples the workload. No counters are maintained: it costs nothing until it is called. */
export async function sampleWorkload(sources: WorkloadSources): Promise<Readings<'daemon'>> {
  const { sessions, commands, oneShots, llm, limits, server } = sources;
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
  const { memoryBytes, tasks } = await sources.mechanism.mechanism.totals();
  return {
    sessions_open: [...sessionsByShell].map(([shell, sessionCount]) => [{ shell }, sessionCount]),
    commands_running: [
      [{ kind: 'session' }, running.session],
      [{ kind: 'one_shot' }, running.one_shot],
    ],
    commands_queued: queued,
    llm_calls_running: llm.providers.running.map(({ candidate, calls }) => [providerLabels(candidate), calls]),
    clients_connected: server.clients,
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
