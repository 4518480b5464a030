import type { Answer, Request } from '../../core/protocol/requests.js';
import { newCommandId } from '../commands/new-command-id.js';
import type { ConfirmableAction } from '../confirmations/confirmation.js';
import { changedPlace } from '../confirmations/failures.js';
import type { Caller } from '../registry/caller.js';
import { renderUnstarted } from '../registry/command-record.js';
import type { Affected, RestoreQuestion } from './restore-question.js';

/** A restore that needs a confirmation, and the functions that judge it again and do it. */
export interface StoppedRestore {
  readonly request: Request<'restore_workspace'>;
  readonly question: RestoreQuestion;
  readonly caller: Caller;
  /** The workspace. */
  readonly directory: string;
  readonly judge: () => Promise<RestoreQuestion | undefined>;
  readonly restore: () => Promise<Answer<'restore_workspace'>>;
}

/** Creates the action of a stopped restore: it is done if it takes no file that the approver was not shown. */
export function restoreAction({ question, caller, directory, judge, restore }: StoppedRestore): ConfirmableAction {
  const { request, verdict, affected } = question;
  const commandId = newCommandId();
  return {
    kind: 'restore',
    request,
    verdict,
    caller,
    owner: caller.principal,
    session: undefined,
    directory,
    commandId,
    fingerprint: '',
    assertReady: () => undefined,
    run: async () => {
      const change = findChange(affected, (await judge())?.affected);
      if (change !== undefined) throw changedPlace(change);
      const restored = await restore();
      return { ...renderUnstarted({ commandId, sessionId: null, directory }, 'completed'), restored };
    },
  };
}

/** Describes a file that a restore takes now, and did not when it was asked for; undefined when there is none. */
function findChange(asked: Affected, now: Affected | undefined): string | undefined {
  if (!now) return undefined;
  const shown = new Set([...asked.removed, ...asked.overwritten]);
  const added = [...now.removed, ...now.overwritten].find((path) => !shown.has(path));
  if (added !== undefined) return `${added} has changed since the question`;
  return now.count > asked.count ? 'more files have changed since the question' : undefined;
}
