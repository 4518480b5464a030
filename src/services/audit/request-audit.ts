import { type AuditEvent, auditPrincipal, type AuditTrail } from '../../core/audit/event.js';
import { isRecorded } from '../../core/audit/requests.js';
import type { ErrorBody } from '../../core/errors.js';
import type { RequestName } from '../../core/protocol/requests.js';
import type { Caller } from '../registry/caller.js';

/** A refusal that repeats itself within this time is counted, and recorded with the next one: it must not fill the log. */
const REPEAT_MS = 1000;
/** Refusals that are known as such; beyond that all are forgotten. */
const MAX_KNOWN = 1000;

/** The parts of answers that are recorded. */
export interface AuditedReply {
  readonly error?: ErrorBody;
  readonly session_id?: unknown;
  /** There for a chunk of a streamed input: of these the end of their command is recorded, with their number of bytes. */
  readonly stdin_bytes?: unknown;
}

/** Records requests as they are answered. */
export class RequestAudit {
  readonly #audit: AuditTrail;
  readonly #refusals = new Map<string, { at: number; left: number }>();

  constructor(audit: AuditTrail) {
    this.#audit = audit;
  }

  /**
   * Takes a request and its answer.
   * @param payload as it came: anything
   */
  answered(request: RequestName, payload: unknown, reply: AuditedReply, caller: Caller): void {
    const outcome = reply.error?.code ?? 'ok';
    if (!isRecorded(request, outcome) || reply.stdin_bytes !== undefined) return;
    const repeated = outcome === 'ok' ? 0 : this.#countRepeats(`${caller.principal.id} ${request} ${outcome}`);
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

  /**
   * Takes a connection that was not let in.
   * @param address of the other end, without its port
   */
  connectionRefused(from: string, address: string, { code: outcome, message: why }: ErrorBody): void {
    const repeated = this.#countRepeats(`${address} ${outcome}`);
    if (repeated === undefined) return;
    const details = { why, ...(repeated > 0 && { repeated }) };
    this.#audit.record({ event: 'connection_refused', from, outcome, details });
  }

  /** How many of the same kind were left out before this one; undefined when this one is to be left out too. */
  #countRepeats(key: string): number | undefined {
    const now = performance.now();
    const known = this.#refusals.get(key);
    if (known && now - known.at < REPEAT_MS) {
      known.left += 1;
      return undefined;
    }
    if (this.#refusals.size >= MAX_KNOWN) this.#refusals.clear();
    this.#refusals.set(key, { at: now, left: 0 });
    return known?.left ?? 0;
  }
}

const fieldsOf = (payload: unknown): Readonly<Record<string, unknown>> =>
  typeof payload === 'object' && payload !== null ? (payload as Record<string, unknown>) : {};

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** What says what a request was for, and is short. Typed text is never recorded, but how much it was. */
function detailsOf(fields: Readonly<Record<string, unknown>>): NonNullable<AuditEvent['details']> {
  const details: Record<string, unknown> = {};
  for (const name of SHOWN)
    if (typeof fields[name] === 'string' || typeof fields[name] === 'boolean') details[name] = fields[name];
  const { data, env, paths } = fields;
  if (typeof data === 'string') details['typed_bytes'] = Buffer.byteLength(data);
  if (typeof env === 'object' && env !== null) details['environment'] = Object.keys(env).slice(0, MAX_LISTED);
  if (Array.isArray(paths)) details['paths'] = paths.slice(0, MAX_LISTED);
  return details;
}

const SHOWN = [
  'cwd',
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
] as const;
const MAX_LISTED = 32;
