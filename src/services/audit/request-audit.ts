import { type AuditEvent, auditPrincipal, type AuditTrail } from '../../core/audit/event.js';
import { isRecorded } from '../../core/audit/requests.js';
import { Repeats } from '../../core/audit/repeats.js';
import type { ErrorBody } from '../../core/errors.js';
import type { RequestName } from '../../core/protocol/requests.js';
import type { Caller } from '../registry/caller.js';

/** The parts of answers that are recorded. */
export interface AuditedReply {
  readonly error?: ErrorBody;
  readonly session_id?: unknown;
  /**
   * Present in answers to chunks of a streamed input: these are not recorded; the end of their command is, with the
   * number of bytes.
   */
  readonly stdin_bytes?: unknown;
}

/** Records requests when they are answered. */
export class RequestAudit {
  readonly #audit: AuditTrail;
  readonly #repeats = new Repeats();

  constructor(audit: AuditTrail) {
    this.#audit = audit;
  }

  /**
   * Records a request and its answer.
   * @param payload as received: any value
   */
  answered(request: RequestName, payload: unknown, reply: AuditedReply, caller: Caller): void {
    const outcome = reply.error?.code ?? 'ok';
    if (!isRecorded(request, outcome) || reply.stdin_bytes !== undefined) return;
    const repeated =
      outcome === 'ok' ? 0 : this.#repeats.countOf(`${caller.principal.id} ${request} ${outcome}`, performance.now());
    if (repeated === undefined) return;
    const fields = fieldsOf(payload);
    this.#audit.record({
      event: 'request',
      principal: auditPrincipal(caller.principal),
      from: caller.from,
      request,
      session_id: textOf(fields['session_id']) ?? textOf(reply.session_id),
      command_id: textOf(fields['command_id']),
      command: textOf(fields['command']),
      outcome,
      details: { ...detailsOf(fields), ...(repeated > 0 && { repeated }) },
    });
  }
}

const fieldsOf = (payload: unknown): Readonly<Record<string, unknown>> =>
  typeof payload === 'object' && payload !== null ? (payload as Record<string, unknown>) : {};

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Short fields that show the purpose of a request. Typed text is never recorded, only its length. */
function detailsOf(fields: Readonly<Record<string, unknown>>): NonNullable<AuditEvent['details']> {
  const details: Record<string, unknown> = {};
  for (const name of SHOWN) if (SHOWN_TYPES.includes(typeof fields[name])) details[name] = fields[name];
  const { data, env, paths, bytes } = fields;
  if (typeof data === 'string') details['typed_bytes'] = Buffer.byteLength(data);
  if (data instanceof Uint8Array) details['bytes'] = data.length;
  if (typeof bytes === 'number') details['bytes'] = bytes;
  if (typeof env === 'object' && env !== null) details['environment'] = Object.keys(env).slice(0, MAX_LISTED);
  if (Array.isArray(paths)) details['paths'] = paths.slice(0, MAX_LISTED);
  return details;
}

const SHOWN = [
  'cwd',
  'path',
  'to',
  'mode',
  'method',
  'port',
  'recursive',
  'shell',
  'label',
  'signal',
  'eof',
  'checkpoint_id',
  'sandbox',
  'provider',
  'shell_provider',
  'model',
  'call_id',
  'name',
  'name_or_id',
  'role',
  'expires_in',
] as const;
const SHOWN_TYPES: readonly string[] = ['string', 'boolean', 'number'];
const MAX_LISTED = 32;
