import { newCommandId } from '../commands/new-command-id.js';
import type { ConfirmableAction } from '../confirmations/confirmation.js';
import type { Confirmations } from '../confirmations/confirmations.js';
import { Surroundings } from '../confirmations/surroundings.js';
import type { FileGate, FileQuestion } from '../gate/file-gate.js';
import type { Caller } from '../registry/caller.js';
import { renderUnstarted } from '../registry/command-record.js';
import type { FilePlace } from './file-place.js';
import type { FilePlan, FileRequestName } from './file-plan.js';

/** A request about files that needs a confirmation. */
export interface StoppedFileRequest<N extends FileRequestName> {
  readonly plan: FilePlan<N>;
  readonly question: FileQuestion;
  readonly caller: Caller;
  readonly place: FilePlace;
  readonly perform: () => ReturnType<FilePlan<N>['perform']>;
}

/** Checks before it is done. */
interface Guards {
  readonly gate: Pick<FileGate, 'judge'>;
  readonly confirmations: Pick<Confirmations, 'assertCovered'>;
}

/** Creates the action of a stopped request: it is done to the same file, if its verdict is still covered. */
export function fileAction<N extends FileRequestName>(
  { plan, question, caller, place, perform }: StoppedFileRequest<N>,
  { gate, confirmations }: Guards,
): ConfirmableAction {
  const { session, owner, directory } = place;
  const { verdict } = question;
  const commandId = newCommandId();
  const surroundings = new Surroundings(verdict);
  const assertReady = () => {
    surroundings.assertUnchanged();
  };
  return {
    kind: 'file',
    request: plan.shown,
    verdict,
    caller,
    owner,
    session,
    directory,
    commandId,
    fingerprint: '',
    assertReady,
    run: async ({ mode, checkpointId, warnings }) => {
      const again = gate.judge(plan, { session, principal: caller.principal });
      if (again) confirmations.assertCovered(verdict, mode, again);
      assertReady();
      const file = await perform();
      const saved = checkpointId === undefined ? {} : { checkpoint_id: checkpointId };
      return {
        ...renderUnstarted({ commandId, sessionId: session?.id ?? null, directory }, 'completed'),
        ...saved,
        warnings: [...warnings],
        file: { ...file, ...saved, ...(warnings.length > 0 && { warnings: [...warnings] }) },
      };
    },
  };
}
