import { randomBytes } from 'node:crypto';

import { directoryOf, type HolderDirectory, ownDirectory } from '../cluster/holder-directory.js';
import { type HolderCommand, HolderLife, Holders } from '../cluster/holders.js';
import { asDaemon, asHolder, fingerprintOf } from '../config/derive.js';
import type { Configuration } from '../config/model/configuration.js';
import { choosePlatform, platformLike } from '../engine/platform/choose-platform.js';
import type { Platform } from '../engine/platform/platform.js';
import type { Services } from '../services/services.js';
import { PrometheusMetrics } from '../transports/http/prometheus.js';
import type { NodeListener } from './cluster.js';
import type { Engine } from './engine.js';
import type { RuntimeContext } from './context.js';

const RUN_BYTES = 8;

/** A daemon that has its sessions held by other processes. */
interface DetachedDaemon {
  readonly as: 'daemon';
  readonly directory: HolderDirectory;
  /** The id by which clients know whether their sessions can still be there: the same as long as one of the holders runs. */
  readonly run: string;
  /** Whether commands of its holders may run in a sandbox: the daemon does not see it. */
  readonly mayHaveSandboxes: boolean;
  readonly command: HolderCommand;
}

/** A process that holds sessions for a daemon. */
interface Holder {
  readonly as: 'holder';
  readonly directory: HolderDirectory;
  readonly name: string;
  readonly end: () => void;
}

/** What a process is, where sessions outlive the daemon. */
export type Detachment = DetachedDaemon | Holder;

/** What a process is, with the configuration that it has as such. */
export interface Detached extends Disposable {
  /** Undefined for a daemon that holds its sessions itself. */
  readonly detachment: Detachment | undefined;
  readonly configure: (configuration: Configuration) => Configuration;
}

interface Start {
  /** What it was started as; undefined for a daemon. */
  readonly holder: Omit<Holder, 'as'> | undefined;
  readonly command: HolderCommand;
}

/**
 * Says what this process is: a daemon alone, one whose sessions outlive it, or the holder of such sessions.
 * @throws the system's error when the directory of the holders cannot be made
 */
export function detach(configuration: Configuration, { holder, command }: Start): Detached {
  const nothing = () => undefined;
  if (holder) {
    const { directory, name } = holder;
    const files = { secret: directory.secretFile, log: directory.logOf(name), audit: directory.auditOf(name) };
    const configure = (next: Configuration) => asHolder(next, name, files);
    return { detachment: { as: 'holder', ...holder }, configure, [Symbol.dispose]: nothing };
  }
  const { detach: isDetached, stateDirectory, platform: wanted } = configuration.adapter;
  if (!isDetached) return { detachment: undefined, configure: (next) => next, [Symbol.dispose]: nothing };
  const platform = choosePlatform(wanted);
  const owned = ownDirectory(stateDirectory, configuration.socketio.port, platform);
  const { directory } = owned;
  const run = directory.runOf(randomBytes(RUN_BYTES).toString('hex'));
  return {
    detachment: { as: 'daemon', directory, run, mayHaveSandboxes: mayHaveSandboxes(platform, directory), command },
    configure: (next) => asDaemon(next, directory.secretFile),
    [Symbol.dispose]: () => {
      owned[Symbol.dispose]();
    },
  };
}

/** Whether this platform has sandboxes, or that of a holder which an earlier daemon has left. */
const mayHaveSandboxes = (platform: Platform, directory: HolderDirectory): boolean =>
  platform.can.sandbox || directory.living().some(({ identity }) => platformLike(identity).can.sandbox);

/**
 * Takes the part of this process: a daemon finds or starts what holds its sessions, a holder says that it is there.
 * @param listener where a holder listens for the daemon; undefined for the daemon itself
 * @returns how it reads its configuration again, beside what every daemon does
 * @throws Error when no holder can be started
 */
export async function takePart(
  engine: Engine,
  services: Services,
  listener: NodeListener | undefined,
  context: RuntimeContext,
): Promise<() => void> {
  const { detachment } = context;
  if (detachment?.as === 'daemon') return await startHolders(detachment, services, context);
  if (detachment?.as === 'holder') announceHolder(detachment, engine, services, listener, context);
  else warnOfHolders(context);
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

async function startHolders(
  { directory, command }: DetachedDaemon,
  { cluster: { nodes } }: Services,
  { configuration, version, log, closers, metrics }: RuntimeContext,
): Promise<() => void> {
  const fingerprint = () => fingerprintOf(configuration(), version);
  const holders = closers.use(new Holders({ directory, command, fingerprint, nodes, log: log('holders') }));
  await holders.start();
  if (metrics instanceof PrometheusMetrics) metrics.include(() => holders.readMetrics());
  return () => {
    holders.reload();
  };
}

function announceHolder(
  { directory, name, end }: Holder,
  { platform, forbidOwnPort }: Engine,
  { cluster, sessions, executions, llm }: Services,
  listener: NodeListener | undefined,
  { configuration, version, closers }: RuntimeContext,
): void {
  const identity = platform.processes.identityOf(process.pid);
  if (!listener || identity === undefined) throw new Error('a holder has to listen for its daemon');
  const fingerprint = fingerprintOf(configuration(), version);
  forbidOwnPort(listener.port);
  const { port } = configuration().daemon?.socketio ?? { port: 0 };
  if (port > 0) forbidOwnPort(port);
  closers.use(
    new HolderLife({
      directory,
      record: { name, pid: process.pid, identity, url: listener.url, version, fingerprint },
      cluster,
      isRunning: () =>
        executions.running > 0 || sessions.registry.running > 0 || llm.providers.running.some(({ calls }) => calls > 0),
      daemons: () => listener.server.gateways,
      end,
    }),
  );
  process.send?.({ ready: true });
}
