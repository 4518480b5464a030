import type { RoutedReply } from '../../services/ports/cluster-port.js';
import type { Placed } from './placed-request.js';
import type { SessionNode } from '../session-nodes.js';
import { refusingNode, unusedNode } from '../replies.js';

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
