import { assertPermitted } from '../core/protocol/permissions.js';
import { AdapterError, type ErrorBody } from '../core/errors.js';
import type { Log } from '../core/logging/log.js';
import { parsePayload } from '../core/protocol/problems.js';
import { type Answer, type Request, type RequestName, requests } from '../core/protocol/requests.js';
import type { Passage } from '../services/ports/cluster-port.js';
import type { Caller } from '../services/registry/caller.js';
import type { TraceCarrier } from '../core/traces/traces.js';
import type { Services } from '../services/services.js';
import { findNearest } from '../core/validation/nearest.js';
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
  /**
   * The trace that the request belongs to.
   * @default none: it begins one
   */
  readonly trace?: TraceCarrier | undefined;
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
  if (!isRequestName(name)) {
    const error = refusalOf(services, caller, unknownRequest(name));
    setImmediate(() => {
      services.metrics.requestAnswered('unknown', error.code, 0);
    });
    return services.secrets.value({ error });
  }
  // Each handler's type fits its request, but TypeScript cannot correlate the union over all names.
  const handler = handlers[name] as (
    services: Services,
    request: unknown,
    caller: Caller,
  ) => Promise<Answer<RequestName>>;
  const made = { name, payload, caller, elsewhere: 'reply' as const };
  const reply = await carryOut(context, made, (request, by) => handler(services, request, by));
  return services.secrets.value(reply);
}

/** A request of a known name. */
export interface NamedRequest<N extends RequestName, T = never> {
  readonly name: N;
  readonly payload: unknown;
  readonly caller: Caller;
  /**
   * How another node of the cluster answers it: by its reply, or by an exchange over HTTP, which may reject with an
   * AdapterError.
   */
  readonly elsewhere: 'reply' | ((passage: Passage) => Promise<T | { readonly error: ErrorBody }>);
}

/**
 * The same for a transport that carries a request out in a way of its own, and masks the secrets in its answer itself.
 * @param recorded the payload as it is recorded, when the request is over; by default as it was received
 */
export async function carryOut<N extends RequestName, T extends object>(
  context: DispatchContext,
  request: NamedRequest<N, T>,
  act: (request: Request<N>, caller: Caller) => Promise<T>,
  recorded: () => unknown = () => request.payload,
): Promise<T | { readonly error: ErrorBody }> {
  const { services, trace } = context;
  const { name, payload, caller } = request;
  const { principal, from } = caller;
  const startedAt = performance.now();
  const answered: { isFromElsewhere: boolean } = { isFromElsewhere: false };
  const reply = await services.traces.request({ name, payload, principal, from, trace }, async () => {
    const handled = await handle(context, request, act);
    answered.isFromElsewhere = handled.isFromElsewhere;
    return handled.reply;
  });
  const outcome = 'error' in reply ? reply.error.code : 'ok';
  const tookMs = performance.now() - startedAt;
  // The client does not wait for its statistics.
  setImmediate(() => {
    services.metrics.requestAnswered(name, outcome, tookMs);
  });
  // The node that has answered has recorded it.
  if (!answered.isFromElsewhere) services.requestAudit.answered(name, recorded(), reply, caller);
  return reply;
}

/** The reply to a message that exceeds the size limit. It counts as the requests that fit into its size. */
export function refuseOversized(
  { services, maxMessageBytes }: { readonly services: Services; readonly maxMessageBytes: number },
  name: string,
  bytes: number,
  caller: Caller,
): { readonly error: ErrorBody } {
  const message = `${name.slice(0, MAX_SHOWN_NAME)} takes ${bytes} bytes, the daemon at most ${maxMessageBytes} (max_message_bytes)`;
  const details = { bytes, max_bytes: maxMessageBytes };
  const weight = Math.ceil(bytes / maxMessageBytes);
  const error = refusalOf(services, caller, new AdapterError('PAYLOAD_TOO_LARGE', message, { details }), weight);
  services.metrics.requestAnswered(isRequestName(name) ? name : 'unknown', error.code, 0);
  if (isRequestName(name)) services.requestAudit.answered(name, undefined, { error }, caller);
  return { error };
}

/** Counts a request that is not looked at, and returns its error, or that of the rate limit. */
function refusalOf(services: Services, caller: Caller, refusal: AdapterError, weight?: number): ErrorBody {
  try {
    countRequest(services, caller, weight);
    return refusal.toBody();
  } catch (limit) {
    return (limit as AdapterError).toBody();
  }
}

/** The node of the client has counted a request that it relays. */
function countRequest({ quotas }: Services, { relayedBy, principal }: Caller, weight?: number): void {
  if (relayedBy === undefined) quotas.countRequest(principal, weight);
}

/** A reply, and whether another node has made it. */
interface Handled<T> {
  readonly reply: T | { readonly error: ErrorBody };
  readonly isFromElsewhere: boolean;
}

async function handle<N extends RequestName, T extends object>(
  context: DispatchContext,
  named: NamedRequest<N, T>,
  act: (request: Request<N>, caller: Caller) => Promise<T>,
): Promise<Handled<T>> {
  const { services, log } = context;
  const { name, payload, caller } = named;
  try {
    if (services.isClosing() && !ALLOWED_WHILE_CLOSING.has(name)) {
      throw new AdapterError('SHUTTING_DOWN', 'the daemon is being stopped');
    }
    countRequest(services, caller);
    assertPermitted(caller.principal.role, name);
    const request = parsePayload(requests[name].input, name, payload) as Request<N>;
    // A node answers what another one has sent on to it.
    const elsewhere = caller.relayedBy === undefined ? routeOf(context, named, request, act) : undefined;
    if (elsewhere) return await elsewhere();
    await prepareUser(services, caller);
    return { reply: await act(request, caller), isFromElsewhere: false };
  } catch (error) {
    return { reply: { error: bodyOf(error, name, log) }, isFromElsewhere: false };
  }
}

/** Makes what runs processes of the user of a token, where it has one. */
async function prepareUser({ executions }: Services, { principal: { runAs } }: Caller): Promise<void> {
  if (runAs !== undefined) await executions.prepare(runAs);
}

/** How other nodes of the cluster answer a request; undefined for one that is answered here. */
function routeOf<N extends RequestName, T extends object>(
  { services, log, trace }: DispatchContext,
  { name, payload, caller, elsewhere }: NamedRequest<N, T>,
  request: Request<N>,
  act: (request: Request<N>, caller: Caller) => Promise<T>,
): (() => Promise<Handled<T>>) | undefined {
  const { cluster } = services;
  if (elsewhere !== 'reply') {
    const passage = cluster.passageFor({ name, request, caller, trace });
    return passage && (async () => ({ reply: await elsewhere(passage), isFromElsewhere: true }));
  }
  const answerHere = async (fields?: object, by?: Partial<Caller>) => {
    try {
      // A gateway runs nothing as a user.
      if (cluster.runsSessions) await prepareUser(services, caller);
      return (await act({ ...request, ...fields }, { ...caller, ...by })) as unknown as Answer<RequestName>;
    } catch (error) {
      return { error: bodyOf(error, name, log) };
    }
  };
  const send = cluster.route({ name, payload, request, caller, trace, answerHere });
  if (!send) return undefined;
  return async () => {
    // A transport that has a request relayed takes its answer as the reply.
    const { reply, isRecorded } = await send();
    return { reply: reply as Handled<T>['reply'], isFromElsewhere: isRecorded };
  };
}

/** Longest request name repeated to the client, in characters. */
const MAX_SHOWN_NAME = 100;

function unknownRequest(name: string): AdapterError {
  const shown = name.slice(0, MAX_SHOWN_NAME);
  const names = Object.keys(requests);
  const meant = findNearest(shown, names);
  const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
  return new AdapterError('UNKNOWN_REQUEST', `there is no request ${JSON.stringify(shown)}${hint}`, {
    details: { ...(meant !== undefined && { nearest: meant }), requests: names },
  });
}

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
