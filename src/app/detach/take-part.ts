import type { ClusterPort } from '../../services/cluster-port.js';
import type { Services } from '../../services/services.js';
import { PrometheusMetrics } from '../../transports/http/prometheus.js';
import type { Engine } from '../engine.js';
import type { NodeListener } from '../cluster.js';
import type { RuntimeContext } from '../runtime-context.js';
import { type DetachedDaemon, type Detachment, fingerprintOf, type Holder } from './detach.js';
import { directoryOf, type HolderDirectory, type HolderRecord } from './holder-directory.js';
import { Holders } from './holders.js';

/** How often a holder looks whether it is still needed, in milliseconds. */
const LOOK_MS = 100;
/** How long a holder with nothing to hold waits for a daemon, in milliseconds. */
const PATIENCE_MS = 2000;
/** The same when results may be asked for again, whose daemon has ended first: as long as clients try. */
const PATIENCE_WITH_RESULTS_MS = 30_000;

/** Dependencies of `HolderLife`. */
interface HolderLifeOptions {
  readonly directory: HolderDirectory;
  readonly record: HolderRecord;
  readonly cluster: Pick<ClusterPort, 'isIdle' | 'load'>;
  /** Whether a command or an LLM call runs. */
  readonly isRunning: () => boolean;
  /** How many daemons are connected. */
  readonly daemons: () => number;
  /** Ends the process. */
  readonly end: () => void;
}

/**
 * The life of a process that holds sessions: it notes where it is reached, and ends when nothing runs in it and either
 * no daemon is connected or the daemon has another one for what is new.
 */
class HolderLife implements Disposable {
  readonly #options: HolderLifeOptions;
  readonly #timer: NodeJS.Timeout;
  #neededAt = performance.now();
  #patienceMs = PATIENCE_MS;

  constructor(options: HolderLifeOptions) {
    this.#options = options;
    options.directory.write(options.record);
    this.#timer = setInterval(this.#look, LOOK_MS).unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    const { directory, record } = this.#options;
    directory.remove(record.name);
  }

  readonly #look = (): void => {
    const { cluster, isRunning, daemons, end } = this.#options;
    const now = performance.now();
    const isRetired = cluster.load().is_draining;
    if (daemons() === 0 && isRunning()) this.#patienceMs = PATIENCE_WITH_RESULTS_MS;
    if (!cluster.isIdle || (daemons() > 0 && !isRetired)) this.#neededAt = now;
    if (now - this.#neededAt < this.#patienceMs) return;
    // Before the end, so that no daemon takes it for one that stays.
    this[Symbol.dispose]();
    end();
  };
}

/** The parts of a daemon that `takePart` uses. */
interface Parts {
  readonly engine: Pick<Engine, 'platform' | 'forbidOwnPort'>;
  readonly services: Pick<Services, 'cluster' | 'sessions' | 'executions' | 'llm'>;
  /** Where a holder listens for the daemon; undefined for the daemon itself. */
  readonly listener: NodeListener | undefined;
  readonly context: RuntimeContext;
}

/**
 * Has the process take its part: a daemon finds or starts what holds its sessions, a holder says that it is there.
 * @returns how it reads its configuration again, beside what every daemon does
 * @throws Error when no holder can be started
 */
export async function takePart(detachment: Detachment | undefined, parts: Parts): Promise<() => void> {
  if (detachment?.as === 'daemon') return await haveHeld(detachment, parts);
  if (detachment?.as === 'holder') hold(detachment, parts);
  else warnOfHolders(parts.context);
  return () => undefined;
}

/** Sessions that an earlier daemon has had held cannot be reached by one that holds its sessions itself. */
function warnOfHolders({ configuration, log }: RuntimeContext): void {
  const { adapter, socketio } = configuration();
  const holders = directoryOf(adapter.stateDirectory, socketio.port).living();
  if (holders.length === 0) return;
  log('holders').warn('sessions of an earlier daemon cannot be reached without adapter.detach; `stop` ends them', {
    processes: holders.map(({ pid }) => pid),
  });
}

async function haveHeld({ directory, command }: DetachedDaemon, parts: Parts): Promise<() => void> {
  const { configuration, version, log, closers, metrics } = parts.context;
  const fingerprint = () => fingerprintOf(configuration(), version);
  const { nodes } = parts.services.cluster;
  const holders = new Holders({ directory, command, fingerprint, nodes, log: log('holders') });
  closers.push(() => holders[Symbol.asyncDispose]());
  await holders.start();
  if (metrics instanceof PrometheusMetrics) metrics.include(() => holders.readMetrics());
  return () => {
    holders.reload();
  };
}

function hold({ directory, name, end }: Holder, { engine, services, listener, context }: Parts): void {
  const { configuration, version, closers } = context;
  const { platform } = engine;
  const identity = platform.processes.identityOf(process.pid);
  if (!listener || identity === undefined) throw new Error('a holder has to listen for its daemon');
  const fingerprint = fingerprintOf(configuration(), version);
  const record = { name, pid: process.pid, identity, url: listener.url, version, fingerprint };
  engine.forbidOwnPort(listener.port);
  const { port } = configuration().daemon?.socketio ?? { port: 0 };
  if (port > 0) engine.forbidOwnPort(port);
  const { cluster, sessions, executions, llm } = services;
  const runsCommand = () => sessions.registry.all().some(({ session }) => session.running !== undefined);
  const life = new HolderLife({
    directory,
    record,
    cluster,
    isRunning: () => executions.running > 0 || runsCommand() || llm.providers.running.some(({ calls }) => calls > 0),
    daemons: () => listener.gateways,
    end,
  });
  closers.push(() => {
    life[Symbol.dispose]();
  });
  process.send?.({ ready: true });
}
