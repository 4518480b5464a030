import { resolve } from 'node:path';

import { AdapterError, type ErrorCode } from '../../core/errors.js';
import type { Answer, Request } from '../../core/protocol/requests.js';
import type { SecretMask } from '../../core/secrets.js';
import type { FilePerformer, Target } from '../../engine/files/file-job.js';
import { newCommandId } from '../commands/command-runner.js';
import type { ConfirmableAction } from '../confirmations/confirmation.js';
import type { Confirmations } from '../confirmations/confirmations.js';
import { Surroundings } from '../confirmations/failures.js';
import type { FileGate, FileQuestion } from '../gate/file-gate.js';
import type { Caller } from '../registry/caller.js';
import { renderUnstarted } from '../registry/command-record.js';
import type { FilePlace, FilePlaces } from './file-place.js';
import { type FilePlan, type FilePlanner, type FileRequestName, pathsOf } from './file-plan.js';
import { planEdit, planRead, planUpload, planWrite, renderWritten, withContent } from './plan-content.js';
import { planFind, planList, planMakeDirectory, planMove, planRemove, planSearch, planStat } from './plan-entries.js';
import { type Download, gather, maskedFile, type Upload, type Uploaded, withRoom } from './transfer.js';

/** A request about files that needs a confirmation. */
interface StoppedFileRequest<N extends FileRequestName> {
  readonly plan: FilePlan<N>;
  readonly question: FileQuestion;
  readonly caller: Caller;
  readonly place: FilePlace;
  readonly perform: () => ReturnType<FilePlan<N>['perform']>;
}

/** Creates the action of a stopped request: it is done to the same file, if its verdict is still covered. */
function fileAction<N extends FileRequestName>(
  { plan, question, caller, place, perform }: StoppedFileRequest<N>,
  gate: FileGate,
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
    judge: () => gate.judge(plan, { session, principal: caller.principal }),
    run: async ({ checkpointId, warnings }) => {
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

/** Tells whether a path exists. */
export interface Existence {
  /** The path, absolute. */
  readonly path: string;
  readonly exists: () => Promise<boolean>;
  /** Whether each look takes a program. */
  readonly isConfined: boolean;
}

/** Paths that a client may watch. */
export interface Watchable {
  readonly at: readonly Target[];
  readonly performer: FilePerformer;
  /** Those of some paths below them that the client may know of. */
  readonly shownOf: (paths: readonly string[]) => readonly string[];
}

/** Those of some paths that are allowed. Judging many together takes little longer than judging one of them. */
function allowed(paths: readonly string[], allows: (paths: readonly string[]) => boolean): readonly string[] {
  if (paths.length === 0 || allows(paths)) return paths;
  if (paths.length === 1) return [];
  const middle = Math.ceil(paths.length / 2);
  return [...allowed(paths.slice(0, middle), allows), ...allowed(paths.slice(middle), allows)];
}

/** Errors for a path that does not exist. */
const MISSING: ReadonlySet<ErrorCode> = new Set(['FILE_NOT_FOUND', 'NOT_A_DIRECTORY']);

const PLANNERS: { readonly [N in FileRequestName]: FilePlanner<N> } = {
  read_file: planRead,
  write_file: planWrite,
  edit_file: planEdit,
  list_directory: planList,
  stat_path: planStat,
  make_directory: planMakeDirectory,
  move_path: planMove,
  remove_path: planRemove,
  find_files: planFind,
  search_files: planSearch,
};

/**
 * Reads and changes files as commands would: judged by the policy, confirmed and saved before like them, with the rights of
 * their user and in their sandbox.
 */
export class Files {
  readonly #places: FilePlaces;
  readonly #gate: FileGate;
  readonly #confirmations: Confirmations;
  readonly #secrets: SecretMask;

  constructor(places: FilePlaces, gate: FileGate, confirmations: Confirmations, secrets: SecretMask) {
    this.#places = places;
    this.#gate = gate;
    this.#confirmations = confirmations;
    this.#secrets = secrets;
  }

  /**
   * Does a request, at once or once it is confirmed.
   * @throws AdapterError COMMAND_DENIED, SESSION_NOT_FOUND, and the errors of files
   */
  async do<N extends FileRequestName>(name: N, request: Request<N>, caller: Caller): Promise<Answer<N>> {
    const { plan, place, question } = await this.#admit(name, request, caller);
    if (!question) return plan.perform(place.performer);
    if (!question.saved) return this.#ask(plan, question, caller, place);
    return { ...(await plan.perform(place.performer)), ...savedFields(question) };
  }

  /**
   * Returns a function that tells whether a path exists, for a client that may ask for it without a confirmation.
   * @throws AdapterError COMMAND_DENIED, SESSION_NOT_FOUND
   */
  async existence(request: Request<'stat_path'>, caller: Caller): Promise<Existence> {
    const { place, question } = await this.#admit('stat_path', request, caller);
    if (question) {
      const { reasons } = question.verdict;
      const message = `whether ${request.path} exists has to be confirmed (${reasons.join('; ')}): ask by stat_path`;
      throw new AdapterError('COMMAND_DENIED', message, { details: { reasons } });
    }
    // The links on the way may come later.
    const at = { path: resolve(place.directory, request.path) };
    const exists = async () => {
      try {
        await place.performer.perform({ kind: 'describe', at, hash: false });
        return true;
      } catch (error) {
        if (error instanceof AdapterError && MISSING.has(error.code)) return false;
        throw error;
      }
    };
    return { ...at, exists, isConfined: place.isConfined };
  }

  /**
   * Paths for a client that may read them without a confirmation.
   * @throws AdapterError COMMAND_DENIED, SESSION_NOT_FOUND
   */
  async watchable(request: Request<'watch_paths'>, caller: Caller): Promise<Watchable> {
    const place = this.#places.find(request.session_id, caller.principal);
    const { session } = place;
    const judged = { session, principal: caller.principal };
    const at = await Promise.all([...new Set(request.paths)].map((path) => place.locate(path, true)));
    const reading = (...paths: readonly string[]) => ({ command: 'cat', args: ['--', ...paths] });
    for (const target of at) {
      const paths = pathsOf(target);
      const verdict = this.#gate.judge(
        { judgedAs: reading(...paths), shown: { command: 'watch_paths', args: paths } },
        judged,
      );
      if (!verdict) continue;
      const message = `reading ${target.path} has to be confirmed (${verdict.reasons.join('; ')}): it is not watched`;
      throw new AdapterError('COMMAND_DENIED', message, { details: { reasons: verdict.reasons } });
    }
    const shownOf = (paths: readonly string[]) => allowed(paths, (some) => this.#gate.allows(reading(...some), judged));
    return { at, performer: place.performer, shownOf };
  }

  /**
   * Opens a file to send it, at once or once it is confirmed by another client.
   * @returns an answer without content when the caller itself has to confirm it
   * @throws as `do`
   */
  async download(request: Request<'read_file'>, caller: Caller): Promise<Download | Answer<'read_file'>> {
    const { plan, place, question } = await this.#admit('read_file', request, caller);
    if (question && !question.saved) {
      const answer = await this.#ask(plan, question, caller, place);
      if (answer.status !== undefined) return answer;
    }
    return maskedFile(await place.performer.send(plan.at), this.#secrets.patterns);
  }

  /**
   * Writes a file whose content comes piece by piece. What has to be confirmed is gathered first, because an approval is
   * for one content.
   * @throws as `do`, and the error of the content
   */
  async upload(upload: Upload, caller: Caller): Promise<Uploaded> {
    const { request, conditions, size = 0 } = upload;
    const place = this.#places.find(request.session_id, caller.principal);
    const plan = await planUpload(request, place, conditions);
    place.assertRoom(size);
    const question = await this.#gate.admit(plan, { session: place.session, principal: caller.principal });
    if (question && !question.saved) {
      const content = await gather(upload);
      const digest = (await upload.digest?.()) ?? plan.job.digest;
      const whole = withContent({ ...plan, job: { ...plan.job, digest, resume: undefined } }, content);
      return { answer: await this.#ask(whole, question, caller, place), version: undefined };
    }
    const written = await place.performer.receive(plan.job, withRoom(upload, place), upload.digest);
    return { answer: { ...renderWritten(written), ...savedFields(question) }, version: written.version };
  }

  async #admit<N extends FileRequestName>(name: N, request: Request<N>, caller: Caller) {
    const place = this.#places.find(request.session_id, caller.principal);
    const { session } = place;
    const planner = PLANNERS[name] as unknown as FilePlanner<N>;
    const plan = await planner(request, place, this.#secrets);
    place.assertRoom(plan.writes);
    return { plan, place, question: await this.#gate.admit(plan, { session, principal: caller.principal }) };
  }

  /** Requests a confirmation, and answers as the mode requires: at once, or after it was done. */
  async #ask<N extends FileRequestName>(
    plan: FilePlan<N>,
    question: FileQuestion,
    caller: Caller,
    place: FilePlace,
  ): Promise<Answer<N>> {
    const perform = () => plan.perform(place.performer);
    const asked = await this.#confirmations.stop(fileAction({ plan, question, caller, place, perform }, this.#gate));
    if ('pending' in asked) return { ...plan.nothing, ...asked.pending };
    return asked.answer.file as unknown as Answer<N>;
  }
}

/** What an answer says about a workspace that was saved before. */
function savedFields(question: FileQuestion | undefined) {
  const { checkpointId, warnings = [] } = question?.saved ?? {};
  return {
    ...(checkpointId !== undefined && { checkpoint_id: checkpointId }),
    ...(warnings.length > 0 && { warnings: [...warnings] }),
  };
}
