import { createHash } from 'node:crypto';

import type { Principal } from '../../core/access/principal.js';
import { boundText } from '../../core/confirmation/bindings.js';
import type { ConfirmationMode } from '../../core/confirmation/modes.js';
import type { ConfirmationOutcome } from '../../core/confirmation/record.js';
import type { PolicyRequest } from '../../core/policy/analysis/inspect.js';
import type { PolicyVerdict } from '../../core/policy/decision/policy.js';
import type { Answer } from '../../core/protocol/requests.js';
import { Deferred } from '../../engine/system/deferred.js';
import type { Warning } from '../../engine/command/command.js';
import type { Caller, EventSink } from '../registry/caller.js';
import type { SessionRecord } from '../registry/session-registry.js';

/** What becomes of something that was confirmed. */
export type ConfirmedAnswer = Answer<'confirm_command'>;

/** What comes with an approval. */
export interface Approval {
  /** Where the output goes that is streamed. */
  readonly caller: Caller;
  readonly mode: ConfirmationMode;
  readonly checkpointId: string | undefined;
  readonly warnings: readonly Warning[];
}

/** Something that was stopped, and can be done once it is confirmed. Nothing but this is ever done: no request is sent again. */
export interface ConfirmableAction {
  readonly kind: 'command' | 'input';
  /** What is confirmed: the text with all that it is given. Of typed text, a description that has none of it. */
  readonly request: PolicyRequest;
  readonly verdict: PolicyVerdict;
  /** Length of typed text, in characters; undefined for a command. */
  readonly typedCharacters?: number;
  /** Of the command, or of the one that is typed into. */
  readonly commandId: string;
  /** Tells a request that was sent again from another one under the same id. */
  readonly fingerprint: string;
  readonly session: SessionRecord | undefined;
  /** Absolute: where it is to be done. */
  readonly directory: string;
  /** Who asked for it, and whom the command will belong to. */
  readonly caller: Caller;
  readonly owner: Principal;
  /** @throws AdapterError when it cannot be done now, because its place is not as it was or not free */
  assertReady(): void;
  /**
   * Sees once more that it may be done, and does it.
   * @throws AdapterError when it would be something else now
   */
  run(approval: Approval): Promise<ConfirmedAnswer>;
}

/** Something that waits for its confirmation, or is being done after it. */
export class Confirmation {
  readonly id: string;
  readonly action: ConfirmableAction;
  readonly mode: ConfirmationMode;
  /** Of what `boundText` gives, in hexadecimal digits. */
  readonly sha256: string;
  readonly requestedAt = new Date();
  readonly expiresAt: Date;
  /** What becomes of it: rejects with COMMAND_DENIED when it is not confirmed. */
  readonly answer = new Deferred<ConfirmedAnswer>();
  /** Aborted when it no longer waits. */
  readonly closed = new AbortController();
  /** Connections of clients that wait for the answer. */
  readonly waiting = new Set<EventSink>();
  outcome: ConfirmationOutcome | undefined;
  /** Answers so far that did not fit. */
  mismatches = 0;

  constructor(id: string, action: ConfirmableAction, mode: ConfirmationMode, expiresMs: number) {
    this.id = id;
    this.action = action;
    this.mode = mode;
    this.sha256 = createHash('sha256').update(boundText(action.request)).digest('hex');
    this.expiresAt = new Date(this.requestedAt.getTime() + expiresMs);
    // Whoever waits is told; nobody has to wait.
    this.answer.promise.catch(() => undefined);
  }

  /** Who asked for it. */
  get requester(): Principal {
    return this.action.caller.principal;
  }
}
