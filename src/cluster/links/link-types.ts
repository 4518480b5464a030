import type { Socket } from 'socket.io-client';

import type { NodeLoad } from '../../core/cluster/link-messages.js';
import type { Repeat } from '../../core/protocol/define-requests.js';
import type { ErrorBody } from '../../core/errors.js';
import type { Log } from '../../core/log.js';
import type { Answer, RequestName } from '../../core/protocol/requests.js';
import type { TraceCarrier } from '../../core/traces.js';
import type { Caller, EventSink } from '../../services/registry/caller.js';
import type { Dialled } from './dial.js';

/** A reply of a node. */
export type LinkReply = Answer<RequestName> | { readonly error: ErrorBody };

/** A client that events can be sent to. */
export type LinkedCaller = Caller & { readonly sink: EventSink };

/**
 * `live`: connected. `resting`: not, since it is not needed. `suspect`: not, but it may come back. `lost`: what ran there
 * counts as lost.
 */
export type LinkState = 'live' | 'resting' | 'suspect' | 'lost';

export interface LinkOptions {
  /** Name of the worker. */
  readonly node: string;
  /** Name of this node. */
  readonly ownNode: string;
  readonly dial: (signal: AbortSignal) => Promise<Dialled>;
  readonly leaseMs: number;
  /** Whether a run of the worker, by its `name-incarnation`, has a lease: it lives, though it cannot be reached from here. */
  readonly hasLease: (nodeId: string) => boolean;
  /** Clients that the worker has to know before they make a request. */
  readonly audience: () => readonly LinkedCaller[];
  /** Time without use after which a connection is closed, in milliseconds. */
  readonly idleMs: number;
  /** See `Link.setLease`. */
  readonly leased: LinkedNode | undefined;
  /** Called when the worker has been connected, or is lost. */
  readonly onChange: () => void;
  /** Called when a worker that was connected is lost, unless it was removed. */
  readonly onLost: () => void;
  readonly log: Log;
}

/** A request that is sent over a link. */
export interface LinkRequest {
  readonly name: RequestName;
  readonly payload: unknown;
  readonly caller: Caller;
  readonly repeat: Repeat;
  /** The trace that it belongs to on the worker. */
  readonly trace?: TraceCarrier | undefined;
  /** Id that was reserved for the session that it opens. */
  readonly reserved?: string | undefined;
}

/** An open connection to a worker. */
export interface OpenLink {
  readonly socket: Socket;
  /** Aborted when it breaks; the reason says why. */
  readonly broken: AbortSignal;
}

/** What the worker has said of itself, to this node or in the registry. */
export interface LinkedNode extends Pick<Dialled['welcome'], 'version' | 'instance_id' | 'labels'> {
  /** `name-incarnation`. */
  readonly id: string;
  readonly load: NodeLoad;
}

/** Looks in the time after which a link is idle. */
const LOOKS = 4;

/** Whether a link is used, and since when it is not. */
export class LinkUse {
  readonly #idleMs: number;
  readonly #onIdle: () => void;
  #users = 0;
  #usedAt = -Infinity;
  #timer: NodeJS.Timeout | undefined;

  /** @param onIdle called when the link was not used for the time, and again while that stays so */
  constructor(idleMs: number, onIdle: () => void) {
    this.#idleMs = idleMs;
    this.#onIdle = onIdle;
  }

  /** Notes a use that is over. */
  touch(): void {
    this.#usedAt = performance.now();
  }

  /** Notes a use until the function that is returned is called. */
  begin(): () => void {
    this.#users += 1;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      this.#users -= 1;
      this.touch();
    };
  }

  /** Begins to look at the link. */
  watch(): void {
    this.touch();
    this.#timer ??= setInterval(this.#look, this.#idleMs / LOOKS).unref();
  }

  /** Ends that. */
  rest(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  readonly #look = (): void => {
    if (this.#users > 0) this.touch();
    else if (performance.now() - this.#usedAt >= this.#idleMs) this.#onIdle();
  };
}
