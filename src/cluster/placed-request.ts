import { callIdFrom, commandIdFrom, ID_BYTES } from '../core/ids.js';
import { requests, type SessionRequest } from '../core/protocol/requests.js';
import { randomBytes, randomText } from '../engine/system/random.js';
import type { ReceivedRequest, RoutedReply } from '../services/cluster-port.js';
import type { SessionNode } from './placement.js';
import { refusingNode, unusedNode } from './relay.js';

/** Fields of a request that say where it goes. */
export interface Placed {
  readonly command_id?: string | undefined;
  readonly call_id?: string | undefined;
  readonly placement?: SessionRequest['placement'];
}

/** The id that the client has given to what a request begins; undefined when it has given none. */
export function ownIdOf({ name, request }: Pick<ReceivedRequest, 'name' | 'request'>): string | undefined {
  const { begins } = requests[name];
  return begins === 'command_id' || begins === 'call_id' ? (request as Placed)[begins] : undefined;
}

/**
 * A request that begins something has an id, so that it can be sent again: the field with it, unless it has one.
 * @param nodeId `name-incarnation` of its node
 */
export function newIdFor(
  { name, request }: Pick<ReceivedRequest, 'name' | 'request'>,
  nodeId: string | undefined,
): object | undefined {
  const { begins } = requests[name];
  if (ownIdOf({ name, request }) !== undefined) return undefined;
  if (begins === 'command_id') return { command_id: commandIdFrom(randomText(ID_BYTES), nodeId) };
  return begins === 'call_id' ? { call_id: callIdFrom(randomBytes(ID_BYTES), nodeId) } : undefined;
}

/** Has the nodes of a request answer it; rejects with AdapterErrors only. */
export type Send = () => Promise<RoutedReply>;

/** Where something may be placed. */
export interface Wish {
  readonly placement?: Placed['placement'];
  readonly key?: string | undefined;
}

/** A command that is claimed before it is sent. */
export interface Claimed {
  readonly commandId: string;
  /** Where it runs, unless it was sent elsewhere before. */
  readonly first: SessionNode;
  readonly wish: Wish;
}

/** Has a node that is none of these begin something. */
export type Begin = (except: ReadonlySet<string>) => Promise<RoutedReply>;

/**
 * Begins something on another node when one has not begun it, unless the request names the node.
 * @param nodeOf the node that has not, by its answer. What has an id may have run on one that cannot be reached
 */
export function untilTaken(
  wish: Wish,
  begin: Begin,
  nodeOf = wish.key === undefined ? unusedNode : refusingNode,
): Send {
  return async () => {
    const refusing = new Set<string>();
    for (;;) {
      const answer = await begin(refusing);
      const node = nodeOf(answer);
      if (node === undefined || refusing.has(node) || wish.placement?.node !== undefined) return answer;
      refusing.add(node);
    }
  };
}
