import type { Configuration } from '../config/model/configuration.js';
import type { AuditTrail } from '../core/audit/event.js';
import type { Metrics } from '../core/metrics/metrics.js';
import type { SecretMask } from '../core/secrets/secret-mask.js';
import type { GateSettings } from '../services/gate/gate-options.js';
import type { RequestAudit } from '../services/audit/request-audit.js';

/** State that changes while the daemon runs, with its metrics and audit log. */
export interface RuntimeContext {
  readonly metrics: Metrics;
  readonly audit: AuditTrail;
  readonly requestAudit: RequestAudit;
  readonly secrets: SecretMask;
  readonly configuration: () => Configuration;
  readonly gate: () => GateSettings;
  readonly isClosing: () => boolean;
}
