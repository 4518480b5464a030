import { callIdFrom, commandIdFrom, ID_BYTES } from '../../core/ids.js';
import type { Request } from '../../core/protocol/requests.js';
import { randomText } from '../../engine/system/random.js';
import type { ReceivedRequest } from '../../services/ports/cluster-port.js';

/** Fields of a request that say where it goes. */
export interface Placed {
  readonly command_id?: string | undefined;
  readonly call_id?: string | undefined;
  readonly placement?: Request<'open_session'>['placement'];
}

/** The id that the client has given to what a request begins; undefined when it has given none. */
export function ownIdOf({ name, request }: Pick<ReceivedRequest, 'name' | 'request'>): string | undefined {
  const { command_id: commandId, call_id: callId } = request as Placed;
  if (name === 'execute_command') return commandId;
  return name === 'llm_call' || name === 'llm_stream' ? callId : undefined;
}

/**
 * A request that begins something has an id, so that it can be sent again: the field with it, unless it has one.
 * @param nodeId `name-incarnation` of its node
 */
export function newIdFor(
  { name, request }: Pick<ReceivedRequest, 'name' | 'request'>,
  nodeId: string | undefined,
): object | undefined {
  const { command_id: commandId, call_id: callId } = request as Placed;
  if (name === 'execute_command' && commandId === undefined)
    return { command_id: commandIdFrom(randomText(ID_BYTES), nodeId) };
  if ((name !== 'llm_call' && name !== 'llm_stream') || callId !== undefined) return undefined;
  return { call_id: callIdFrom(Buffer.from(randomText(ID_BYTES), 'base64url'), nodeId) };
}
