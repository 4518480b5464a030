import { HostReader } from '../engine/host/host-reader.js';
import { HostMonitor } from '../services/machine/host-monitor.js';
import type { CommandRegistry } from '../services/registry/command-registry.js';
import type { Services } from '../services/services.js';
import { AuditSource } from '../services/subscriptions/audit-source.js';
import { CommandSource } from '../services/subscriptions/command-source.js';
import { NodeSource } from '../services/subscriptions/node-source.js';
import { SessionSource } from '../services/subscriptions/session-source.js';
import { ConfirmationSource, HostSource, LlmSource } from '../services/subscriptions/small-sources.js';
import { Subscriptions } from '../services/subscriptions/subscriptions.js';

import type { Engine } from './engine.js';
import type { RuntimeContext } from './runtime-context.js';

/** The services that are observed. */
type Observed = Pick<Services, 'sessions' | 'descriptions' | 'executions' | 'confirmations' | 'llm' | 'cluster'> & {
  readonly registry: CommandRegistry;
};

/** Builds what measures the machine, and what tells clients of changes. */
export function buildObservation(
  { pool, platform }: Engine,
  { sessions, descriptions, executions, confirmations, llm, registry, cluster }: Observed,
  { auditLog, log, closers }: RuntimeContext,
): Pick<Services, 'host' | 'subscriptions'> {
  const host = new HostMonitor({
    reader: new HostReader(pool.cwd, platform.openMachine()),
    counts: () => {
      const { registry: open } = sessions;
      const held = cluster.heldCounts();
      return {
        sessions: open.all().filter(({ isHidden }) => !isHidden).length + held.sessions,
        commands_running: open.running + executions.running + held.commandsRunning,
        daemon_rss_bytes: residentBytes(),
      };
    },
  });
  const subscriptions = new Subscriptions({
    log: log('subscriptions'),
    isAudited: auditLog.isEnabled,
    hasNodes: cluster.node !== undefined,
    sources: {
      sessions: new SessionSource(sessions.registry, descriptions),
      commands: new CommandSource(registry.journal),
      confirmations: new ConfirmationSource(confirmations),
      llm: new LlmSource(llm.calls),
      host: new HostSource(host),
      audit: new AuditSource(auditLog),
      nodes: new NodeSource(cluster.nodes),
    },
  });
  closers.push(() => {
    host[Symbol.dispose]();
    subscriptions[Symbol.dispose]();
  });
  return { host, subscriptions };
}

let lastResidentBytes = 0;

/** Memory of the daemon; without free descriptors, with which /proc is read, that of the last time. */
function residentBytes(): number {
  try {
    lastResidentBytes = process.memoryUsage.rss();
  } catch {
    // EMFILE
  }
  return lastResidentBytes;
}
