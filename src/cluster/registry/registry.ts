import { AdapterError } from '../../core/errors.js';
import type { HeldSession } from '../../services/sessions/session-description.js';

export type NodeRole = 'node' | 'gateway' | 'worker';

/** What a node says of itself in the registry, as long as its lease lasts. */
export interface NodeLease {
  readonly node: string;
  readonly incarnation: string;
  readonly role: NodeRole;
  /** Where its port for links is reached; null for a gateway, which has none. */
  readonly url: string | null;
  readonly labels: Readonly<Record<string, string>>;
  /** Most sessions and running one-shot commands. */
  readonly capacity: number;
  /** Running one-shot commands, and the sessions of some of them. Its other sessions are counted by the registry. */
  readonly one_shots: number;
  /** Those other sessions, for nodes that do not ask for places. Undefined for earlier releases, and for a kept lease. */
  readonly sessions?: number | undefined;
  readonly is_draining: boolean;
  readonly version: string;
  readonly link_version: number;
  readonly instance_id: string;
  /** The gateway that keeps the lease by its link; undefined for a node that keeps it itself. */
  readonly kept_by?: string | undefined;
}

/** A lease, and its time that is left, in milliseconds. */
export interface HeldLease {
  readonly lease: NodeLease;
  readonly remainingMs: number;
}

/** A command without a session whose id was chosen by its client. */
export interface CommandClaim {
  readonly owner: string;
  readonly commandId: string;
}

/** Where a command was first noted to run. */
export interface ClaimedPlace {
  /** `name-incarnation`. */
  readonly nodeId: string;
  /** Whether that was not noted before: no node has run it yet. */
  readonly isFirst: boolean;
}

/** What a node holds, as far as the registry counts it. */
export interface HeldWork {
  readonly sessions: readonly HeldSession[];
  /** Commands that run there at the moment. */
  readonly claims: readonly CommandClaim[];
}

/** What a node writes with each beat. */
export interface Beat extends HeldWork {
  readonly lease: NodeLease;
}

/** A worker that has no registry of its own: an operator or a program has registered it at a gateway. */
export interface RegisteredWorker {
  readonly node: string;
  readonly url: string;
  /** Replace those that the worker says itself. */
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly capacity?: number | undefined;
}

export interface RegistryView {
  /** All nodes with a lease, by name. */
  readonly nodes: ReadonlyMap<string, NodeLease>;
  readonly registered: readonly RegisteredWorker[];
  /** Another one than before: the registry has lost the registered workers. Undefined when it never had any. */
  readonly epoch: string | undefined;
}

/** A node on which a session may be opened, and the id that the session would have there. */
export interface Candidate {
  readonly node: string;
  /** `name-incarnation`. */
  readonly nodeId: string;
  readonly sessionId: string;
}

export interface SessionPlaceWish {
  /** The node has to have all of them. */
  readonly labels: Readonly<Record<string, string>>;
  readonly owner: string;
  /** Most sessions of the owner on all nodes; undefined for any number. */
  readonly maxOfOwner: number | undefined;
  /** Name of the node that is chosen while it carries at most one more than the least full one. */
  readonly preferred: string | undefined;
}

/** The same, with where it may be. */
export interface PlaceWish extends SessionPlaceWish {
  readonly candidates: readonly Candidate[];
}

/** A reserved place, or why there is none: none has room, none of the nodes has a lease, the owner has enough. */
export type Reservation = Candidate | { readonly refused: 'no_room' | 'no_lease' | 'owner_limit' };

/**
 * The error of a request that needs the registry while it does not answer.
 * @param about `node`: name of the node that is to be found there
 */
export const registryUnavailable = (
  why: string,
  { node, cause }: { readonly node?: string; readonly cause?: unknown } = {},
): AdapterError =>
  new AdapterError('REGISTRY_UNAVAILABLE', `the registry of the cluster does not answer: ${why}`, {
    details: { ...(node !== undefined && { node }), retry_safe: true, maybe_executed: false },
    ...(cause !== undefined && { cause }),
  });
