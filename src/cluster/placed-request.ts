import { callIdFrom, commandIdFrom, ID_BYTES } from '../core/ids.js';
import type { Request } from '../core/protocol/requests.js';
import { randomText } from '../engine/system/random.js';
import type { ReceivedRequest } from '../services/ports/cluster-port.js';
import type { Worker } from './workers.js';

/** Fields of a request that say where it goes. */
export interface Placed {
  readonly command_id?: string | undefined;
  readonly call_id?: string | undefined;
  readonly placement?: Request<'open_session'>['placement'];
}

/** A request that begins something has an id, so that it can be sent again. */
export function withId(
  worker: Worker,
  name: ReceivedRequest['name'],
  payload: unknown,
  { command_id: commandId, call_id: callId }: Placed,
): { readonly id: string | undefined; readonly payload: unknown } {
  const node = worker.link.known?.id;
  const fields = payload as object;
  if (name === 'execute_command') {
    if (commandId !== undefined) return { id: commandId, payload };
    return { id: undefined, payload: { ...fields, command_id: commandIdFrom(randomText(ID_BYTES), node) } };
  }
  if (name !== 'llm_call' && name !== 'llm_stream') return { id: undefined, payload };
  if (callId !== undefined) return { id: callId, payload };
  const random = Buffer.from(randomText(ID_BYTES), 'base64url');
  return { id: undefined, payload: { ...fields, call_id: callIdFrom(random, node) } };
}
