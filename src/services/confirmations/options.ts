import type { Principal } from '../../core/access/principal.js';
import type { ConfirmationWays } from '../../core/confirmation/modes.js';
import type { ConfirmationObserver } from '../../core/confirmation/record.js';
import type { IdOptions } from '../../core/ids.js';
import type { Warning } from '../../engine/command/outcome.js';
import type { RememberedApprovals } from '../approvals/remembered-approvals.js';
import type { Caller } from '../registry/caller.js';
import type { Connections } from '../registry/connections.js';
import type { ConfirmableAction } from './confirmation.js';
import type { Reviewer } from './reviewer.js';

/** Settings of confirmations. */
export interface ConfirmationSettings extends ConfirmationWays {
  readonly expiresMs: number;
  readonly reviewTimeoutMs: number;
}

/**
 * Saves a checkpoint of the workspace before a possibly destructive action; returns its id, or warnings why it could
 * not be saved.
 */
export type SaveBefore = (
  action: Pick<ConfirmableAction, 'kind' | 'request' | 'verdict'> & { readonly caller: Pick<Caller, 'principal'> },
) => Promise<{ readonly checkpointId: string | undefined; readonly warnings: readonly Warning[] }>;

/** Dependencies of `Confirmations`. */
export interface ConfirmationsOptions extends IdOptions {
  readonly settings: () => ConfirmationSettings;
  /** Connections that receive events. */
  readonly connections: Pick<Connections, 'all'>;
  /** Undefined when no model is configured: actions that it would have to confirm are rejected. */
  readonly reviewer: () => Reviewer | undefined;
  readonly save: SaveBefore;
  readonly approvals: RememberedApprovals;
  /** The newest checkpoint that a principal may see, as far as it is known. */
  readonly diffBaseFor: (viewer: Principal) => string | null;
  /** True while a principal's token is valid: a principal without a connection is not notified when it ends. */
  readonly isActive: (principal: Principal) => boolean;
  readonly observe: ConfirmationObserver;
}
