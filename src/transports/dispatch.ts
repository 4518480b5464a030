import { assertPermitted } from '../core/protocol/permissions.js';
import { AdapterError, type ErrorBody } from '../core/errors.js';
import type { Log } from '../core/logging/log.js';
import { parsePayload } from '../core/protocol/problems.js';
import { type Answer, type RequestName, requests } from '../core/protocol/requests.js';
import type { Caller } from '../services/registry/caller.js';
import type { AuditedReply } from '../services/audit/request-audit.js';
import type { Services } from '../services/services.js';
import { handlers } from './handlers.js';

/** Requests that are answered during shutdown. */
const ALLOWED_WHILE_CLOSING: ReadonlySet<RequestName> = new Set([
  'wait_command',
  'read_output',
  'list_sessions',
  'get_session',
]);

/** The reply to a client. */
export type Reply<N extends RequestName = RequestName> = Answer<N> | { readonly error: ErrorBody };

/** True for the name of a request. */
const isRequestName = (name: string): name is RequestName => Object.hasOwn(requests, name);

/** What requests are answered with. */
export interface DispatchContext {
  readonly services: Services;
  readonly log: Log;
}

/**
 * Checks quota and role, parses the request, calls its handler, and converts the outcome to a reply. Never throws: an
 * exception in a handler becomes `INTERNAL` for the client and a line in the log. Every request is counted, unknown
 * names included, and recorded if it changes state. Secrets in the answer are masked.
 */
export async function dispatch(
  context: DispatchContext,
  name: string,
  payload: unknown,
  caller: Caller,
): Promise<Reply> {
  const { services } = context;
  const startedAt = performance.now();
  const isKnown = isRequestName(name);
  const reply = isKnown ? await handle(context, name, payload, caller) : { error: unknownRequest(name) };
  const outcome = 'error' in reply ? reply.error.code : 'ok';
  const tookMs = performance.now() - startedAt;
  // The client does not wait for its statistics.
  setImmediate(() => {
    services.metrics.requestAnswered(isKnown ? name : 'unknown', outcome, tookMs);
  });
  if (isKnown) services.requestAudit.answered(name, payload, reply as AuditedReply, caller);
  return services.secrets.value(reply);
}

/** The reply to a message that exceeds the size limit. It counts as a request. */
export function refuseOversized(
  { services, maxMessageBytes }: { readonly services: Services; readonly maxMessageBytes: number },
  name: string,
  bytes: number,
  caller: Caller,
): { readonly error: ErrorBody } {
  const message = `${name.slice(0, MAX_SHOWN_NAME)} takes ${bytes} bytes, the daemon at most ${maxMessageBytes} (max_message_bytes)`;
  const details = { bytes, max_bytes: maxMessageBytes };
  const error = new AdapterError('PAYLOAD_TOO_LARGE', message, { details }).toBody();
  services.metrics.requestAnswered(isRequestName(name) ? name : 'unknown', error.code, 0);
  if (isRequestName(name)) services.requestAudit.answered(name, undefined, { error }, caller);
  return { error };
}

async function handle(
  { services, log }: DispatchContext,
  name: RequestName,
  payload: unknown,
  caller: Caller,
): Promise<Reply> {
  try {
    if (services.isClosing() && !ALLOWED_WHILE_CLOSING.has(name)) {
      throw new AdapterError('SHUTTING_DOWN', 'the daemon is being stopped');
    }
    services.quotas.countRequest(caller.principal);
    assertPermitted(caller.principal.role, name);
    const request = parsePayload(requests[name].input, name, payload);
    const { runAs } = caller.principal;
    if (runAs !== undefined) await services.executions.prepare(runAs);
    // Each handler's type fits its request, but TypeScript cannot correlate the union over all names.
    const handler = handlers[name] as (
      services: Services,
      request: unknown,
      caller: Caller,
    ) => Promise<Answer<RequestName>>;
    return await handler(services, request, caller);
  } catch (error) {
    return { error: bodyOf(error, name, log) };
  }
}

/** Longest request name repeated to the client, in characters. */
const MAX_SHOWN_NAME = 100;

const unknownRequest = (name: string): ErrorBody =>
  new AdapterError('UNKNOWN_REQUEST', `there is no request ${JSON.stringify(name.slice(0, MAX_SHOWN_NAME))}`, {
    details: { requests: Object.keys(requests) },
  }).toBody();

function bodyOf(error: unknown, name: RequestName, log: Log): ErrorBody {
  if (error instanceof AdapterError) {
    if (error.code === 'INTERNAL') log.error('a request failed', { request: name, error: error.message });
    return error.toBody();
  }
  const { code, message, stack }: NodeJS.ErrnoException = error instanceof Error ? error : new Error(String(error));
  if (code !== undefined && EXHAUSTED.has(code)) {
    return {
      code: 'RESOURCE_EXHAUSTED',
      message: `the machine is out of resources: ${message}`,
      details: { errno: code },
    };
  }
  log.error('a request failed unexpectedly', { request: name, error: stack ?? String(error) });
  return { code: 'INTERNAL', message: `internal error: ${message}; the log has the details` };
}

/** Errnos of temporary exhaustion: file descriptors, processes, memory, disk. */
const EXHAUSTED: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM', 'ENOSPC']);
