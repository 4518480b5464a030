import type { AuditTrail } from '../core/audit/event.js';
import type { Metrics } from '../core/metrics.js';
import type { SecretMask } from '../core/secrets/secret-mask.js';
import type { CompletionsPort } from './completions-port.js';
import type { Access } from './access/access.js';
import type { Quotas } from './access/quotas.js';
import type { Checkpoints } from './checkpoints.js';
import type { Commands } from './commands.js';
import type { Confirmations } from './confirmations/confirmations.js';
import type { Connections } from './connections.js';
import type { DaemonStatus } from './daemon-status.js';
import type { LlmPort } from './llm-port.js';
import type { Metadata } from './metadata.js';
import type { Readiness } from './readiness.js';
import type { SessionUsage } from './session-usage.js';
import type { RequestAudit } from './request-audit.js';
import type { Sessions } from './sessions.js';
import type { StreamedInputs } from './streamed-inputs.js';

/** The use-cases that transports call. */
export interface Services {
  readonly access: Access;
  readonly quotas: Quotas;
  readonly sessions: Sessions;
  readonly usage: SessionUsage;
  readonly commands: Commands;
  readonly inputs: StreamedInputs;
  readonly confirmations: Confirmations;
  /** Transports keep it: each connection that events can be sent to. */
  readonly connections: Connections;
  readonly checkpoints: Checkpoints;
  readonly llm: LlmPort;
  readonly completions: CompletionsPort & AsyncDisposable;
  readonly metadata: Metadata;
  readonly status: DaemonStatus;
  readonly readiness: Readiness;
  /** Where transports count what they do. */
  readonly metrics: Metrics;
  /** Where transports record who connects, and what is asked. */
  readonly audit: AuditTrail;
  readonly requestAudit: RequestAudit;
  /** Masks what goes out to clients. */
  readonly secrets: SecretMask;
  /** Whether the daemon takes new work. */
  readonly isClosing: () => boolean;
}
