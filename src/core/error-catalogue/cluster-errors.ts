import { defineErrors } from './entry.js';

/**
 * Error codes of a cluster. `details.node` names the node, `details.retry_safe` says whether the same request may be sent
 * again as it is, `details.maybe_executed` whether it may have been done.
 */
export const CLUSTER_ERRORS = defineErrors({
  NODE_LOST: {
    meaning: 'The node that was to answer has been lost, or the connection to it, before its answer.',
    status: 502,
    retry: 'check',
    next: 'Send the request again if `details.retry_safe` is true. Otherwise look at what it has done first.',
  },
  NODE_UNREACHABLE: {
    meaning: 'There is no connection to the node: nothing was done.',
    status: 503,
    retry: 'later',
    next: 'Send the request again in some seconds. `list_nodes` says what is wrong with the node.',
  },
  NODE_DRAINING: {
    meaning: 'The node is being drained: it takes no new sessions. Nothing was done.',
    status: 503,
    retry: 'later',
    next: 'Open the session without naming the node, or end the draining by `drain_node`.',
  },
  NO_CAPACITY: {
    meaning: 'No node can take the request: none is connected that takes new work, is not full, and has the labels.',
    status: 503,
    retry: 'later',
    next: 'Close sessions, or add a node. `list_nodes` shows how full the nodes are.',
  },
  REGISTRY_UNAVAILABLE: {
    meaning: 'The registry of the cluster, Redis, does not answer, and the request needs it. Nothing was done.',
    status: 503,
    retry: 'later',
    next: 'Send the request again in some seconds. Sessions that are open go on meanwhile. `/readyz` and the log of the node say why.',
  },
});
