import { announced } from '../core/cluster/link-messages.js';
import { AdapterError } from '../core/errors.js';
import { ID_BYTES, sessionIdFrom } from '../core/ids.js';
import type { Principal } from '../core/principal.js';
import type { Log } from '../core/log.js';
import { sessionLimitReached } from '../services/access/admission.js';
import type { RoutedReply } from '../services/cluster-port.js';
import type { HeldSession } from '../services/sessions/session-description.js';
import { randomBytes } from '../engine/system/random.js';
import { noCapacity } from './failures.js';
import { leastFull, type SessionNode } from './placement.js';
import type { RedisRegistry } from './registry/redis-registry.js';
import {
  type Candidate,
  type ClaimedPlace,
  type CommandClaim,
  registryUnavailable,
  type Reservation,
  type SessionPlaceWish,
} from './registry/registry.js';

/**
 * Nodes that the registry is asked about first. Each takes some 12 µs of Redis; and the more there are, the more places
 * other gateways can take before one has to ask about all.
 */
const FIRST_CANDIDATES = 32;

/** What a session is opened with. */
export interface SessionWish {
  /** Nodes on which it may be. */
  readonly nodes: readonly SessionNode[];
  /** Name of the node that it is on if that is not much fuller than others. */
  readonly preferred: string | undefined;
  readonly labels: Readonly<Record<string, string>> | undefined;
  readonly principal: Principal;
  /** Says why there is no place. */
  readonly whyNone: () => string;
}

/** Opens a session on a node, under an id that was reserved. */
type Open = (node: SessionNode, sessionId: string) => Promise<RoutedReply>;

/** Places that all nodes of a cluster share: for sessions, and for commands that must run once. */
export class SharedPlaces {
  readonly #registry: RedisRegistry;
  readonly #ownNode: string;
  /** Most sessions of a token, on all nodes together. */
  readonly #maxSessions: () => number;
  readonly #log: Log;

  constructor(registry: RedisRegistry, ownNode: string, maxSessions: () => number, log: Log) {
    this.#registry = registry;
    this.#ownNode = ownNode;
    this.#maxSessions = maxSessions;
    this.#log = log;
  }

  /**
   * Reserves a place, and opens a session there. A place is given back when the session is certainly not open.
   * @throws AdapterError REGISTRY_UNAVAILABLE, SESSION_LIMIT, NO_CAPACITY
   */
  async open({ nodes, labels = {}, preferred, principal, whyNone }: SessionWish, open: Open): Promise<RoutedReply> {
    const usable = nodes.filter(({ isLive, isDraining }) => isLive && !isDraining);
    const maxOfOwner = principal.isLocalPeer ? undefined : this.#maxSessions();
    const owner = this.#ownerOf(principal);
    const place = await this.#reserve(usable, { labels, owner, maxOfOwner, preferred });
    const node = usable.find(({ name }) => 'node' in place && name === place.node);
    if ('refused' in place || !node) throw refusalOf(place, usable, { maxSessions: maxOfOwner ?? 0, whyNone });
    const answer = await open(node, place.sessionId);
    if (!isOpen(answer.reply, place.sessionId)) this.#giveBack(place, { id: place.sessionId, owner });
    return answer;
  }

  /**
   * Reserves on one of the nodes that are least full by what this node knows. The registry counts exactly, but takes time
   * for each node that it looks at, and nothing else meanwhile; so it looks at all of them only if these have no room.
   */
  async #reserve(nodes: readonly SessionNode[], wish: SessionPlaceWish): Promise<Reservation> {
    const random = randomBytes(ID_BYTES);
    const first = leastFull(nodes, wish, FIRST_CANDIDATES);
    if (first.length > 0) {
      const place = await this.#registry.reserve({ ...wish, candidates: candidatesOf(first, random) });
      const isFinal = 'node' in place || place.refused === 'owner_limit' || first.length === nodes.length;
      if (isFinal) return place;
    }
    return this.#registry.reserve({ ...wish, candidates: candidatesOf(nodes, random) });
  }

  /**
   * Notes that a command of a client's own id runs on a node.
   * @returns the node that it was noted for first; undefined when the registry does not answer
   */
  async claim(principal: Principal, commandId: string, nodeId: string): Promise<ClaimedPlace | undefined> {
    try {
      return await this.#registry.claim(this.#claimOf(principal, commandId), nodeId);
    } catch (error) {
      if (error instanceof AdapterError && error.code === 'REGISTRY_UNAVAILABLE') return undefined;
      throw error;
    }
  }

  /**
   * Takes the note back of a command that was not sent, as `Registry.unclaim` does.
   * @returns false also when the registry does not answer
   */
  async unclaim(principal: Principal, commandId: string, nodeId: string, isUnknownThere: boolean): Promise<boolean> {
    try {
      return await this.#registry.unclaim(this.#claimOf(principal, commandId), nodeId, isUnknownThere);
    } catch (error) {
      this.#note(error);
      return false;
    }
  }

  #giveBack({ nodeId }: Candidate, session: HeldSession): void {
    this.#registry.release(nodeId, session).catch(this.#note);
  }

  /** What is not given back expires. */
  readonly #note = (error: unknown): void => {
    this.#log.warn('a place could not be given back, and expires', {
      why: (error as Error).message,
    });
  };

  /** As other nodes know the client. */
  #ownerOf(principal: Principal): string {
    return announced(principal, this.#ownNode).id;
  }

  #claimOf(principal: Principal, commandId: string): CommandClaim {
    return { owner: this.#ownerOf(principal), commandId };
  }
}

/** The nodes of which the run is known, with the id that a session would have there. */
const candidatesOf = (nodes: readonly SessionNode[], random: Uint8Array): Candidate[] =>
  nodes.flatMap(({ name, nodeId }) =>
    nodeId === undefined ? [] : [{ node: name, nodeId, sessionId: sessionIdFrom(random, nodeId) }],
  );

/** Why there is no place. */
function refusalOf(
  place: Reservation,
  nodes: readonly SessionNode[],
  { maxSessions, whyNone }: { readonly maxSessions: number; readonly whyNone: () => string },
): AdapterError {
  const why = 'refused' in place ? place.refused : 'no_room';
  if (why === 'owner_limit') return sessionLimitReached(maxSessions);
  if (why === 'no_lease' && nodes.some(({ nodeId }) => nodeId !== undefined))
    return registryUnavailable('it has no leases, and the nodes write them again within seconds');
  return noCapacity(whyNone());
}

/** Whether a session is open under its id, or may be. A worker that does not know of reservations makes an id of its own. */
function isOpen(reply: RoutedReply['reply'], sessionId: string): boolean {
  if ('error' in reply) return reply.error.code === 'NODE_LOST';
  return 'session_id' in reply && reply.session_id === sessionId;
}
