import { AdapterError } from '../../core/errors.js';
import type { CommandRequest, TypedInput } from '../../core/protocol/requests.js';
import type { Command } from '../../engine/command/command.js';
import { type CommandRecord, fingerprintOf, renderResult } from '../registry/command-record.js';
import { type CommandGate, findChangedValue, readValues, type UsedValues } from '../gate/gate.js';
import type { GateQuestion } from '../gate/gate-options.js';
import type { TypedQuestion, TypingGate } from '../gate/typing-gate.js';
import { typeInto } from '../session-recorder.js';
import type { SessionRecord } from '../registry/session-registry.js';
import type { Approval, ConfirmableAction, ConfirmedAnswer } from './confirmation.js';
import { changedPlace, Surroundings } from './failures.js';

/** A command that needs a confirmation, and the function that runs it. */
export interface StoppedCommand extends Pick<ConfirmableAction, 'caller' | 'owner' | 'session' | 'directory'> {
  readonly question: GateQuestion;
  /** The variables that it reads, as they were when the confirmation was requested. */
  readonly used: UsedValues;
  /** With the id that the command will have. */
  readonly request: CommandRequest & { readonly command_id: string };
  /** Runs the command after the final checks. */
  start(approval: Approval): Promise<ConfirmedAnswer>;
}

/** Creates the action of a stopped command: it runs in the unchanged place, if its verdict is still covered. */
export function commandAction(stopped: StoppedCommand, gate: CommandGate): ConfirmableAction {
  const { question, request, session, caller, owner, directory, used } = stopped;
  const assertSession = session ? readinessOf(session, used) : () => undefined;
  const { paths, scripts } = question.verdict;
  const surroundings = new Surroundings({
    paths: [...new Set([...paths, ...used.paths])],
    scripts: [...new Set([...scripts, ...used.scripts])],
  });
  const assertReady = () => {
    assertSession();
    surroundings.assertUnchanged();
  };
  return {
    kind: 'command',
    request: question.request,
    verdict: question.verdict,
    caller,
    owner,
    session,
    place: question.place,
    directory,
    commandId: request.command_id,
    fingerprint: fingerprintOf(request),
    assertReady,
    judge: async () => (await gate.admitConfirmed(request, session, caller))?.verdict,
    run: async (approval) => {
      if (session) await assertSameValues(session, used);
      // No other event can be handled from here on.
      assertReady();
      return stopped.start(approval);
    },
  };
}

/**
 * Returns a check that the session still has its present directory and shell, and is idle. If variables of the text are
 * not known, no other command may have run since: it could have changed them.
 */
function readinessOf({ session }: SessionRecord, { names, shown, hasOthers }: UsedValues): () => void {
  const { workingDirectory, restarts, commandCount } = session;
  const isUncertain = hasOthers || shown === undefined;
  return () => {
    if (session.running || session.queued.length > 0) {
      throw new AdapterError(
        'SESSION_BUSY',
        'the session runs another command, which may leave its directory: wait for it',
        {
          details: { running_command_id: session.running?.id ?? null, queued: session.queued.length },
        },
      );
    }
    if (session.workingDirectory !== workingDirectory) {
      throw changedPlace(`the session has gone from ${workingDirectory} to ${session.workingDirectory}`);
    }
    if (session.restarts !== restarts) throw changedPlace('the session has got another shell');
    if (isUncertain && session.commandCount !== commandCount) {
      const what = names.length > 0 ? names.filter((name) => name !== 'IFS').map((name) => `$${name}`) : ['variables'];
      throw changedPlace(
        `other commands have run in the session since, which may have changed ${what.slice(0, MAX_SHOWN).join(', ')}`,
      );
    }
  };
}

const MAX_SHOWN = 5;

/** @throws AdapterError CONFIRMATION_MISMATCH when a variable of the command has another value than at the question */
async function assertSameValues(session: SessionRecord, { names, shown }: UsedValues): Promise<void> {
  if (names.length === 0 || shown === undefined) return;
  const now = await readValues(session, names);
  const change = now
    ? findChangedValue(names, shown, now)
    : `the session does not show its variables, so that ${names.map((name) => `$${name}`).join(', ')} may have changed`;
  if (change !== undefined) throw changedPlace(change);
}

/** Typed text that needs a confirmation, and the terminal it is for. */
export interface StoppedInput extends Pick<ConfirmableAction, 'caller' | 'owner'> {
  readonly question: TypedQuestion;
  readonly request: TypedInput;
  readonly session: SessionRecord;
  readonly command: Command;
  readonly record: CommandRecord;
}

/** Creates the action of stopped input: the text is typed into the same command, as the end of the same line. */
export function inputAction(stopped: StoppedInput, typing: TypingGate): ConfirmableAction {
  const { question, request, session, command, record, caller, owner } = stopped;
  const { data = '', eof = false } = request;
  const typed = { data, eof };
  let again: TypedQuestion | undefined;
  const assertReady = () => {
    if (session.session.running !== command) {
      throw new AdapterError('NO_RUNNING_COMMAND', `command ${command.id} has ended: there is nothing to type into`);
    }
    if (typing.lineWith(session, typed) !== question.line) throw changedPlace('the line has changed');
  };
  return {
    kind: 'input',
    request: question.request,
    verdict: question.verdict,
    judged: question.judged,
    typedCharacters: data.length,
    caller,
    owner,
    session,
    commandId: command.id,
    fingerprint: '',
    directory: session.session.workingDirectory,
    assertReady,
    judge: () => {
      assertReady();
      again = typing.admit(session, typed, caller.principal);
      return again?.judged;
    },
    run: async () => {
      again?.pass();
      const accepted = await typeInto(session, command, typed);
      return { ...renderResult(record), accepted_bytes: accepted };
    },
  };
}
