import type { Repeat } from '../core/protocol/define-requests.js';
import { AdapterError } from '../core/errors.js';
import { findNearest } from '../core/nearest.js';

export function nodeLost(node: string, repeat: Repeat, why: string): AdapterError {
  const isSafe = repeat === 'safe';
  const consequence = isSafe ? 'the request has changed nothing' : 'it may have been done';
  return new AdapterError('NODE_LOST', `node ${node} was lost before its answer (${why}); ${consequence}`, {
    details: { node, retry_safe: isSafe, maybe_executed: !isSafe },
  });
}

/** The error of a request that was not sent, since there is no connection. */
export const nodeUnreachable = (node: string, why: string): AdapterError =>
  new AdapterError('NODE_UNREACHABLE', `there is no connection to node ${node}: ${why}`, {
    details: { node, retry_safe: true, maybe_executed: false },
  });

export const sessionLost = (sessionId: string, node: string): AdapterError =>
  new AdapterError('SESSION_NOT_FOUND', `session ${sessionId} has ended: its node ${node} was lost`, {
    details: { session_id: sessionId, reason: 'node_lost', node },
  });

export const noCapacity = (why: string): AdapterError =>
  new AdapterError('NO_CAPACITY', why, { details: { retry_safe: true, maybe_executed: false } });

export const nodeDraining = (node: string): AdapterError =>
  new AdapterError('NODE_DRAINING', `node ${node} is being drained, and takes no new sessions`, {
    details: { node, retry_safe: true, maybe_executed: false },
  });

export function unknownNode(name: string, known: readonly string[]): AdapterError {
  const names = [...known].sort();
  const meant = findNearest(name, names);
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
  return new AdapterError('INVALID_REQUEST', `there is no node ${name} here${hint}`, {
    details: { field: 'node', nodes: names },
  });
}
