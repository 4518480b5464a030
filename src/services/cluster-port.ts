import type { Readable } from 'node:stream';

import type { NodeLoad } from '../core/cluster/link-messages.js';
import { REQUEST_FACTS } from '../core/protocol/request-facts.js';
import { AdapterError, type ErrorBody } from '../core/errors.js';
import type { Headers } from '../core/previews.js';
import type { Answer, Request, RequestName } from '../core/protocol/requests.js';
import type { TraceCarrier } from '../core/traces.js';
import type { ForwardedAnswer } from './http-exchange.js';
import type { Caller, EventSink } from './registry/caller.js';

/** A request that a transport has received, with its payload as it came and after parsing. */
export interface ReceivedRequest {
  readonly name: RequestName;
  /** As it came: it is sent on unchanged, and parsed again by its node. */
  readonly payload: unknown;
  readonly request: object;
  readonly caller: Caller;
  /** The trace that its client names. */
  readonly trace: TraceCarrier | undefined;
  /** What came, if over HTTP: it is sent on as such, with its content. Undefined for a message. */
  readonly http?: (() => HttpRequest) | undefined;
  /** Equal for repetitions of a request over HTTP, which go to the same node; undefined when it does not matter. */
  readonly repeatKey?: string | undefined;
  /** Answers it by the services of this node, also with other fields, or with others of its caller. Never rejects. */
  readonly answerHere: (fields?: object, caller?: Partial<Caller>) => Promise<RoutedReply['reply']>;
}

/** The answer of a node, or an error of the catalogue. Content that comes over HTTP is an answer as it comes. */
export interface RoutedReply {
  readonly reply: Answer<RequestName> | ForwardedAnswer | { readonly error: ErrorBody };
  /** Whether another node has answered it, and has recorded it if it is to be recorded. */
  readonly isRecorded: boolean;
}

/** A request over HTTP as it came. */
export interface HttpRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Headers;
  /** Whether it asks for WebSocket. */
  readonly isUpgrade: boolean;
  /** Read when it is sent on; undefined without a body. */
  readonly body: Readable | undefined;
  /** See `ExchangeOptions`. */
  readonly trailers?: (() => NodeJS.Dict<string>) | undefined;
  /** Aborted when the client has gone. */
  readonly gone: AbortSignal;
  /** Whether the client is connected by TLS. */
  readonly isEncrypted: boolean;
  /**
   * Whether an answer of this status has a reply of the protocol as its body: it is read, and is that of the request.
   * @default none has: the body goes to the client as it comes
   */
  readonly hasReply?: (status: number) => boolean;
}

/** The requests about the nodes of the cluster. */
export interface NodesPort {
  list(): Answer<'list_nodes'>;
  register(request: Request<'register_node'>): Promise<Answer<'register_node'>>;
  remove(request: Request<'remove_node'>): Promise<Answer<'remove_node'>>;
  drain(request: Request<'drain_node'>): Promise<Answer<'drain_node'>>;
}

/** Whether the registry of the cluster answers. */
export type RegistryState = 'available' | 'unavailable';

/** Another run of a daemon that has the name of this node. */
export interface Rival {
  readonly incarnation: string;
  readonly url: string | null;
}

/** This node in the registry of its cluster. */
export interface MembershipPort {
  readonly registry: RegistryState;
  /** A daemon that runs and has the name of this node, so that no other node finds this one. */
  readonly rival: Rival | undefined;
  /** Time since the lease was renewed last, in milliseconds; undefined before the first time. */
  readonly leaseAgeMs: number | undefined;
  /** The same before this node joins. Waits until the lease of an earlier run is over. */
  findRival(): Promise<Rival | undefined>;
  /**
   * Joins the cluster, as far as the registry answers.
   * @param url where other nodes reach the port for links; null for a node without one
   */
  join(url: string | null): Promise<void>;
  /** Ends the lease: nothing new is placed here. What runs goes on. Idempotent. */
  leave(): Promise<void>;
}

/** What other processes of this machine run for this daemon. */
export interface HeldCounts {
  readonly sessions: number;
  readonly commandsRunning: number;
}

/** The other nodes of the cluster, for the transports. */
export interface ClusterPort extends AsyncDisposable {
  /** Name of this node for its clients; undefined for a daemon alone, also for one whose sessions other processes hold. */
  readonly node: string | undefined;
  /**
   * How other nodes answer a request, which came as a message or over HTTP: the function sends it to them, and rejects
   * with AdapterErrors only. Undefined for what is answered here, such as all that another node has sent on.
   * @throws AdapterError when no node can answer it
   */
  route(received: ReceivedRequest): (() => Promise<RoutedReply>) | undefined;
  /** Notes that a client has connected. */
  attach(caller: Caller): void;
  /** Ends what belongs to a connection on other nodes. */
  detach(sink: EventSink): void;
  /** Tells the other nodes that the access of a principal has ended. */
  endAccess(principal: string): void;
  readonly nodes: NodesPort;
  /** Undefined without a registry. */
  readonly membership: MembershipPort | undefined;
  /**
   * Begins new work on this node: a session, a command without one, an LLM call. The function that is returned ends it.
   * @throws AdapterError NODE_DRAINING
   */
  beginWork(): () => void;
  /** What this node carries, for the other nodes. */
  load(): NodeLoad;
  /** What the processes run that hold the sessions of this daemon; nothing without such. */
  heldCounts(): HeldCounts;
  /** Has this node take no new sessions and one-shot commands, or take them again. */
  setDraining(isDraining: boolean): void;
  /** Whether nothing runs on this node, and no new work is being begun. */
  readonly isIdle: boolean;
  /** Whether sessions run on this node. */
  readonly runsSessions: boolean;
  /** Why no session could be opened anywhere; undefined when one could, and for a node that opens them itself. */
  findObstacle(): ErrorBody | undefined;
}

/** Fields with which a request names nodes. */
interface Placed {
  readonly node?: unknown;
  readonly placement?: unknown;
}

const alone = (): never => {
  throw new AdapterError('INVALID_REQUEST', 'this daemon is not part of a cluster (cluster.enabled is false)');
};

function answerHere({ name, request }: Pick<ReceivedRequest, 'name' | 'request'>): undefined {
  const { node, placement } = request as Placed;
  if (node !== undefined && REQUEST_FACTS[name].route !== 'here') refuseField(name, 'node');
  if (placement !== undefined) refuseField(name, 'placement');
}

/** The cluster of a daemon alone: everything is answered here. */
export const NO_CLUSTER: ClusterPort = {
  node: undefined,
  route: answerHere,
  attach: () => undefined,
  detach: () => undefined,
  endAccess: () => undefined,
  load: () => ({ sessions: 0, one_shots: 0, capacity: 0, is_draining: false }),
  heldCounts: () => ({ sessions: 0, commandsRunning: 0 }),
  beginWork: () => () => undefined,
  setDraining: alone,
  isIdle: false,
  runsSessions: true,
  nodes: { list: () => ({ nodes: [] }), register: alone, remove: alone, drain: alone },
  findObstacle: () => undefined,
  membership: undefined,
  [Symbol.asyncDispose]: () => Promise.resolve(),
};

function refuseField(name: RequestName, field: string): never {
  const message = `${name} has ${field}, but this daemon is not part of a cluster: leave ${field} out`;
  throw new AdapterError('INVALID_REQUEST', message, { details: { field } });
}
