import type { ConfirmationOutcome } from '../../core/confirmation.js';
import { AdapterError } from '../../core/errors.js';
import type { PolicyVerdict } from '../../core/policy/policy.js';
import type { Request } from '../../core/protocol/requests.js';
import { contentOf, realPathOf } from '../../engine/system/local-files.js';
import type { Confirmation, Decision } from './confirmation.js';
import { termsOf } from './wire.js';

/** The error for a confirmation id unknown to a principal: the same for every cause. */
export const notFound = (id: string): AdapterError =>
  new AdapterError(
    'CONFIRMATION_NOT_FOUND',
    `nothing waits for the confirmation ${id}: it was decided, has expired, or was never there; ask for the command again`,
    { details: { confirmation_id: id } },
  );

/** The error for an approval of a different action. */
export const wrongHash = (id: string, left: number): AdapterError =>
  new AdapterError(
    'CONFIRMATION_MISMATCH',
    `command_sha256 is not that of what waits for the confirmation ${id}; ${left > 0 ? `${left} more and it is void` : 'it is void now'}`,
    { details: { confirmation_id: id, attempts_left: Math.max(0, left) } },
  );

/** The error for a command whose place has changed. */
export const changedPlace = (what: string): AdapterError =>
  new AdapterError('CONFIRMATION_MISMATCH', `${what}: nothing was run; ask for the command again`);

/** The error for a principal with too many open confirmations. */
export function tooMany(open: readonly Confirmation[], max: number): AdapterError {
  const first = Math.min(...open.map(({ expiresAt }) => expiresAt.getTime()));
  const message = `${max} commands of this token wait for their confirmation already; have them confirmed or rejected first`;
  const details = { max_open_confirmations: max, retry_after_ms: Math.max(0, first - Date.now()) };
  return new AdapterError('RATE_LIMITED', message, { details });
}

/** Reason for not running a command whose token became invalid while it was waiting. */
export const TOKEN_ENDED = 'the token that asked for it no longer counts';

/** The error for an approval of an action whose requester's token has become invalid. */
export const tokenEnded = (): AdapterError =>
  new AdapterError('COMMAND_DENIED', `${TOKEN_ENDED}: nothing was run`, { details: { outcome: 'withdrawn' } });

/** The error for requests that were waiting when the daemon was told to stop. */
export const shuttingDown = (): AdapterError => new AdapterError('SHUTTING_DOWN', 'the daemon is being stopped');

/** A justification contains a letter or digit, of any script. */
const SAYS_SOMETHING = /[\p{L}\p{N}]/u;

/**
 * Checks that a client that confirms its own command names it and gives a justification.
 * @throws AdapterError INVALID_REQUEST otherwise
 */
export function assertMeant({ command_sha256: sha256, justification }: Request<'confirm_command'>): void {
  const missing =
    sha256 === undefined ? 'command_sha256' : SAYS_SOMETHING.test(justification ?? '') ? undefined : 'justification';
  if (missing === undefined) return;
  throw new AdapterError(
    'INVALID_REQUEST',
    `confirm_command: ${missing}: is needed to approve a command of one’s own`,
    {
      details: { field: missing },
    },
  );
}

/** The error for callers that wait for an action that was not confirmed. */
export function denial(
  confirmation: Confirmation,
  outcome: Exclude<ConfirmationOutcome, 'approved'>,
  { by, justification }: Decision,
  isEnding: boolean,
): AdapterError {
  if (isEnding) return shuttingDown();
  const why = { rejected: `${by?.name ?? 'no decider'} has refused it`, ...UNDECIDED }[outcome];
  const message = `this had to be confirmed, and was not: ${why}${justification === '' ? '' : `: ${justification}`}`;
  const { confirmation_id, class: commandClass, reasons, requires } = termsOf(confirmation);
  const details = { action: 'confirm', class: commandClass, reasons, confirmation_id, requires, outcome };
  return new AdapterError('COMMAND_DENIED', message, { details: { ...details, decided_by: by?.name ?? null } });
}

const UNDECIDED = {
  expired: 'the confirmation expired',
  withdrawn: 'it was withdrawn',
  void: 'answers did not fit it, and it is void',
} as const;

const MAX_PATHS = 256;

/**
 * What the paths of a command mean when its confirmation is requested: the approval is for these files. A link that leads
 * elsewhere by then, or a script with other content, is another command.
 */
export class Surroundings {
  readonly #places: ReadonlyMap<string, string>;
  readonly #scripts: ReadonlyMap<string, string>;

  constructor({ paths, scripts }: Pick<PolicyVerdict, 'paths' | 'scripts'>) {
    this.#places = new Map(paths.slice(0, MAX_PATHS).map((path) => [path, realPathOf(path)]));
    this.#scripts = new Map(scripts.slice(0, MAX_PATHS).map((path) => [path, contentOf(path)]));
  }

  /** Describes a path that leads elsewhere now, or a script that has changed; undefined when there is none. */
  findChange(): string | undefined {
    for (const [path, place] of this.#places) {
      const now = realPathOf(path);
      if (now !== place) return `${path} led to ${place} and leads to ${now} now`;
    }
    for (const [path, content] of this.#scripts) {
      if (contentOf(path) !== content) return `the script ${path} has changed`;
    }
    return undefined;
  }

  /** @throws AdapterError CONFIRMATION_MISMATCH when `findChange` finds one */
  assertUnchanged(): void {
    const change = this.findChange();
    if (change !== undefined) throw changedPlace(change);
  }
}
