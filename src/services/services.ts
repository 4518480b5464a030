import type { AuditTrail } from '../core/audit-events.js';
import type { Metrics } from '../core/metrics.js';
import type { SecretMask } from '../core/secrets.js';
import type { Traces } from '../core/traces.js';
import type { ClusterPort } from './cluster-port.js';
import type { LlmCalls } from './llm/calls.js';
import type { Completions } from './llm/completions.js';
import type { AuditLog, RequestAudit } from './audit.js';
import type { Access, Peers, Tokens } from './access/access.js';
import type { Admission, Quotas, Refusals } from './access/admission.js';
import type { DashboardLinks } from './access/dashboard-links.js';
import type { Commands } from './commands/commands.js';
import type { Confirmations } from './confirmations/confirmations.js';
import type { RememberedApprovals } from './remembered-approvals.js';
import type { Connections } from './registry/caller.js';
import type { DaemonStatus, Machine, Readiness } from './machine/machine.js';
import type { HostMonitor } from './machine/host-monitor.js';
import type { Metadata } from './machine/metadata.js';
import type { SessionUsage } from './limits/session-usage.js';
import type { Ports } from './listening-ports.js';
import type { Previews } from './previews.js';
import type { Watching } from './watching.js';
import type { Waiting } from './waiting.js';
import type { WorkspaceCheckpoints } from './checkpoints/workspace-checkpoints.js';
import type { Files } from './files/files.js';
import type { Screens } from './screens.js';
import type { Restores } from './checkpoints/restores.js';
import type { Subscriptions } from './subscriptions.js';
import type { Executions } from './executions.js';
import type { Recordings } from './recordings.js';
import type { SessionDescriptions } from './sessions/session-description.js';
import type { Sessions } from './sessions/sessions.js';
import type { SessionStartup } from './session-startup.js';
import type { StreamedInputs } from './commands/running-commands.js';

export interface Services {
  readonly access: Access;
  readonly admission: Admission;
  readonly peers: Peers;
  readonly refusals: Refusals;
  readonly tokens: Tokens;
  readonly links: DashboardLinks;
  readonly quotas: Quotas;
  readonly executions: Executions;
  readonly sessions: Sessions;
  readonly startup: SessionStartup;
  readonly recordings: Recordings;
  readonly descriptions: SessionDescriptions;
  readonly usage: SessionUsage;
  readonly commands: Commands;
  readonly inputs: StreamedInputs;
  readonly confirmations: Confirmations;
  readonly approvals: RememberedApprovals;
  /** Connections that events can be sent to; maintained by transports. */
  readonly connections: Connections;
  readonly checkpoints: WorkspaceCheckpoints;
  readonly restores: Restores;
  readonly files: Files;
  readonly waiting: Waiting;
  readonly ports: Ports;
  readonly previews: Previews;
  readonly watching: Watching;
  readonly screens: Screens;
  readonly llm: LlmCalls;
  readonly completions: Completions;
  readonly cluster: ClusterPort;
  readonly metadata: Metadata;
  readonly status: DaemonStatus;
  readonly readiness: Readiness;
  readonly machine: Machine;
  readonly host: HostMonitor;
  readonly subscriptions: Subscriptions;
  /** Metrics recorded by transports. */
  readonly metrics: Metrics;
  /** Spans of requests; used by transports. */
  readonly traces: Traces;
  /** Records connections and requests; used by transports. */
  readonly audit: AuditTrail;
  readonly requestAudit: RequestAudit;
  /** Reads what was recorded. */
  readonly auditLog: AuditLog;
  /** Masks secrets in everything sent to clients. */
  readonly secrets: SecretMask;
  /** True when the daemon accepts no new work. */
  readonly isClosing: () => boolean;
}
