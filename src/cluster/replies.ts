import type { ErrorCode } from '../core/errors.js';
import type { WarningCode } from '../core/warnings.js';
import type { RoutedReply } from '../services/ports/cluster-port.js';
import type { LinkReply } from './links/link-types.js';

/** The node that has refused a request since it is drained; undefined for other replies. */
export const refusingNode = (answer: RoutedReply): string | undefined => nodeIn(answer, ['NODE_DRAINING']);

/** The same, and the node that a request was not sent to, since it cannot be connected to. */
export const unusedNode = (answer: RoutedReply): string | undefined =>
  nodeIn(answer, ['NODE_DRAINING', 'NODE_UNREACHABLE']);

function nodeIn({ reply }: RoutedReply, codes: readonly ErrorCode[]): string | undefined {
  if (!('error' in reply) || !codes.includes(reply.error.code)) return undefined;
  const { node } = (reply.error.details ?? {}) as { readonly node?: unknown };
  return typeof node === 'string' ? node : undefined;
}

/** The answer of other nodes. */
export const answeredBy = (reply: LinkReply): RoutedReply => ({ reply, isRecorded: !isOfThisNode(reply) });

/** Says of a command that could not be sent now that it may have run: it was sent before. */
export function withEarlierTry(answer: RoutedReply): RoutedReply {
  const { reply } = answer;
  if (!('error' in reply) || reply.error.code !== 'NODE_UNREACHABLE') return answer;
  const details = { ...(reply.error.details as object | undefined), maybe_executed: true };
  const message = `${reply.error.message}; the command was sent there before, and may have been done`;
  return { ...answer, reply: { error: { ...reply.error, message, details } } };
}

/** Says that another gateway may have run the same command: the registry could not be asked. */
export function withNoClaim(answer: RoutedReply): RoutedReply {
  const { reply } = answer;
  if ('error' in reply || !('warnings' in reply)) return answer;
  const code: WarningCode = 'NO_CLAIM';
  const message =
    'the registry of the cluster does not answer: if the same command_id is sent to another node, the command may run twice';
  return { ...answer, reply: { ...reply, warnings: [...(reply.warnings ?? []), { code, message }] } };
}

/** Errors of this node itself, which no worker has recorded. */
const isOfThisNode = (reply: LinkReply): boolean =>
  'error' in reply && (reply.error.code === 'NODE_LOST' || reply.error.code === 'NODE_UNREACHABLE');
