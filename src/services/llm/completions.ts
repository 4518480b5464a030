import { isAscii, isUtf8 } from 'node:buffer';
import { constants, open } from 'node:fs/promises';
import { resolve } from 'node:path';

import { linkSignals } from '../../core/abort.js';
import type { Principal } from '../../core/principal.js';
import { AdapterError } from '../../core/errors.js';
import { callIdFrom, ID_BYTES } from '../../core/ids.js';
import { type AnswerFormat, lastBlock } from '../../core/llm/answer.js';
import { llmError } from '../../core/llm/failure.js';
import type { LlmSettings, ModelSettings } from '../../core/llm/settings.js';
import { taskPrompt } from '../../core/llm/messages.js';
import {
  type CompletionAnswer,
  type CompletionRequest,
  invalid,
  type WorktreeReport,
} from '../../core/openai/completion-request.js';
import { FailureMemory, hasRun, unknownModel } from '../../core/openai/failure.js';
import { type OutputLimits, OutputWindow } from '../../core/output/output-window.js';
import type { SecretMask } from '../../core/secrets.js';
import type { Worktree, Worktrees } from '../../engine/instance/worktrees.js';
import { isDirectory } from '../../engine/system/local-files.js';
import { randomBytes } from '../../engine/system/random.js';
import type { CallLog } from './call-log.js';
import { assertQuestion } from './invocation.js';
import type { EmitLlmEvent, LlmQuestion, LlmReply, Providers } from './providers.js';
import type { ShellCatalogue } from './shell-catalogue.js';

/** Largest instruction file, in bytes: it precedes every prompt. */
const MAX_BYTES = 1024 * 1024;

/**
 * Reads a repository's instructions for agents. Other users of the repository can replace the file, so only a regular
 * file is read: a pipe would block indefinitely, and a device has no end.
 * @returns undefined when the file does not exist
 * @throws AdapterError BAD_DIRECTORY when it cannot be read
 */
async function readAgentFile(file: string): Promise<string | undefined> {
  try {
    await using handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = await handle.stat();
    if (!stat.isFile()) throw refusal(file, 'it is no file');
    if (stat.size > MAX_BYTES) throw refusal(file, `it has ${stat.size} bytes; at most ${MAX_BYTES} are read`);
    // The file may be growing meanwhile.
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(stat.size), 0, stat.size, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } catch (error) {
    if (error instanceof AdapterError) throw error;
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw refusal(file, code, error);
  }
}

const refusal = (file: string, why: string, cause?: unknown): AdapterError =>
  new AdapterError('BAD_DIRECTORY', `${file} cannot be read: ${why}`, { details: { file }, cause });

/** Longest excerpt of an invalid answer in an error, in characters. */
const MAX_DETAIL_CHARACTERS = 4096;

/** Extracts the answer from a tool's raw output. Streamed output cannot be changed any more. */
function normalize({ content, isText }: LlmReply, { normalizer, driver }: ModelSettings, isStreamed: boolean): string {
  if (!isText || normalizer === 'full') return content;
  if (normalizer === 'structured') {
    const message = `${driver} has not marked its answer: its output is no JSON that its driver knows`;
    throw llmError('failed', message, { detail: content, exit_code: 0 });
  }
  return normalizer === 'auto' && isStreamed ? content : lastBlock(content);
}

/**
 * Checks that an answer is JSON: a tool may ignore the schema.
 * @throws AdapterError LLM_FAILED when it is not
 */
function asJson({ content }: LlmReply, { driver }: ModelSettings): string {
  try {
    JSON.parse(content);
    return content;
  } catch (cause) {
    const message = `${driver} was held to a JSON Schema and has answered something else than JSON`;
    throw llmError('failed', message, { detail: content.slice(0, MAX_DETAIL_CHARACTERS), exit_code: 0 }, cause);
  }
}

/**
 * Whether the answer is only known at the end: in text the last block counts, and with JSON a tool's intermediate
 * messages are not part of it.
 */
const isKnownAtEnd = ({ format }: CompletionRequest, { normalizer }: ModelSettings): boolean =>
  normalizer === 'last_block' || format !== undefined;

/** Answer for a tool without output: clients require one. */
const NO_OUTPUT = 'No output from CLI.';

export interface CompletionListener {
  readonly principal: Principal;
  /** Aborted when no client waits for the answer any more. */
  readonly signal: AbortSignal;
  /** Called with each piece of the answer, with secrets masked; undefined when only the whole answer is needed. */
  readonly onText: ((text: string) => void) | undefined;
  /**
   * Identifies repetitions of a request: equal for the same request of the same principal. Undefined for a request that
   * has to run even if it has just failed.
   */
  readonly repeatKey: string | undefined;
}

export interface ListedModel {
  readonly id: string;
  readonly driver: string;
}

interface CompletionsOptions {
  /** Without a file of models, every tool is a model with its own name, in the workspace. */
  readonly settings: () => LlmSettings;
  readonly catalogue: ShellCatalogue;
  readonly providers: Providers;
  readonly log: CallLog;
  readonly worktrees: Worktrees;
  readonly workspace: string;
  readonly secrets: SecretMask;
  /** Limits on a patch in an answer. */
  readonly output: () => OutputLimits;
}

/** Runs completions of models: a tool in a repository, with the repository's instructions for agents. */
export class Completions implements AsyncDisposable {
  readonly #options: CompletionsOptions;
  readonly #closing = new AbortController();
  readonly #active = new Set<Promise<unknown>>();
  readonly #failures: FailureMemory<AdapterError>;

  constructor(options: CompletionsOptions) {
    this.#options = options;
    this.#failures = new FailureMemory(() => options.settings().repeatWindowMs);
  }

  models(): readonly ListedModel[] {
    const { settings, catalogue } = this.#options;
    const { models } = settings();
    if (models) return Object.entries(models).map(([id, { driver }]) => ({ id, driver }));
    return catalogue.names
      .filter((name) => catalogue.availability(name).available)
      .map((name) => ({ id: name, driver: name }));
  }

  /**
   * Runs a completion.
   * @throws AdapterError INVALID_REQUEST, BAD_DIRECTORY, LLM_…, SHUTTING_DOWN; `details.is_repeated` is true for the
   *   remembered failure of an earlier run
   */
  async complete(request: CompletionRequest, listener: CompletionListener): Promise<CompletionAnswer> {
    const { repeatKey } = listener;
    const failure = repeatKey === undefined ? undefined : this.#failures.recall(repeatKey, performance.now());
    if (failure) throw repeated(failure);
    try {
      const answer = await this.#run(request, listener);
      if (repeatKey !== undefined) this.#failures.forget(repeatKey);
      return answer;
    } catch (error) {
      const isRemembered = repeatKey !== undefined && error instanceof AdapterError && hasRun(error.details ?? {});
      if (isRemembered && !listener.signal.aborted) this.#failures.remember(repeatKey, error, performance.now());
      throw error;
    }
  }

  async #run(request: CompletionRequest, listener: CompletionListener): Promise<CompletionAnswer> {
    const answering = this.#answer(request, listener);
    const settled = answering.catch(() => undefined);
    this.#active.add(settled);
    try {
      return await answering;
    } catch (error) {
      if (!this.#closing.signal.aborted) throw error;
      throw new AdapterError('SHUTTING_DOWN', 'the daemon is being stopped', { cause: error });
    } finally {
      this.#active.delete(settled);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#active);
  }

  async #answer(
    request: CompletionRequest,
    { principal, signal, onText }: CompletionListener,
  ): Promise<CompletionAnswer> {
    const model = this.#find(request.model);
    assertQuestion(request.messages);
    this.#assertFormat(request, model);
    const directory = existingDirectory(model.repoPath);
    const isIsolated = request.worktree ?? model.worktree;
    assertReportable(request, isIsolated);
    const instructions = await this.#instructionsOf(model, directory);
    await using worktree = isIsolated ? await this.#options.worktrees.make(directory) : undefined;
    const isHeldBack = isKnownAtEnd(request, model);
    using ending = linkSignals(signal, this.#closing.signal);
    const question = {
      messages: [{ role: 'user', content: taskPrompt(instructions, request.messages) }],
      model: model.model,
      access: model.access,
      cwd: worktree?.path ?? directory,
      hasAgentFile: instructions !== undefined,
      timeoutMs: model.timeoutMs ?? this.#options.catalogue.timeoutMsOf(model.driver),
      format: request.format,
      isStreamed: onText !== undefined && !isHeldBack,
      signal: ending.signal,
    } as const;
    const reply = await this.#ask(principal, model, question, (event) => {
      if (event.type === 'text') onText?.(event.text);
    });
    const content = request.format ? asJson(reply, model) : normalize(reply, model, onText !== undefined);
    if (isHeldBack) onText?.(this.#options.secrets.text(content));
    return { content, usage: reply.usage, worktree: await this.#report(request, worktree) };
  }

  /**
   * Checks that the model's tool supports the format.
   * @throws AdapterError INVALID_REQUEST when it does not
   */
  #assertFormat({ model, format }: CompletionRequest, { driver }: ModelSettings): void {
    if (!format || this.#takes(format, driver)) return;
    const able = this.models().filter((listed) => this.#takes(format, listed.driver));
    const what = format.isAnyObject ? 'json_object' : 'json_schema';
    const models = able.map(({ id }) => id).join(', ') || 'none';
    const why = `${model} cannot be held to ${what}, because its tool ${driver} has no option for it`;
    throw invalid(format.field, `${why}; models that can: ${models}`);
  }

  #takes({ isAnyObject }: AnswerFormat, driver: string): boolean {
    const { structured } = this.#options.catalogue.find(driver).driver;
    return structured !== undefined && (structured.takesAnyObject || !isAnyObject);
  }

  /** Calls the tool. Empty output counts as an answer, unless the answer has to be JSON. */
  async #ask(
    owner: Principal,
    { driver }: ModelSettings,
    question: LlmQuestion,
    emit: EmitLlmEvent,
  ): Promise<LlmReply> {
    const { providers, log } = this.#options;
    const call = { id: callIdFrom(randomBytes(ID_BYTES)), owner, model: question.model };
    const candidate = { provider: 'shell', shellProvider: driver } as const;
    try {
      return await log.record(call, emit, (logged) => providers.ask(candidate, question, logged));
    } catch (error) {
      const isSilence = error instanceof AdapterError && error.code === 'LLM_EMPTY';
      if (!isSilence || question.format) throw error;
      if (question.isStreamed) emit({ type: 'text', text: NO_OUTPUT });
      return { content: NO_OUTPUT, usage: undefined, model: null, session: null, isText: true };
    }
  }

  #find(name: string): ModelSettings {
    const { settings, catalogue, workspace } = this.#options;
    const { models } = settings();
    if (models && Object.hasOwn(models, name)) return models[name] as ModelSettings;
    if (!models && catalogue.names.includes(name)) return modelOfTool(name, workspace);
    throw unknownModel(
      name,
      this.models().map(({ id }) => id),
    );
  }

  /** The repository's instructions for agents, unless the tool reads them on its own. */
  async #instructionsOf(
    { agentFile, agentFileMode, driver }: ModelSettings,
    directory: string,
  ): Promise<string | undefined> {
    const readsItself = this.#options.catalogue.find(driver).driver.agentFileArgs !== undefined;
    if (agentFileMode === 'native' || (agentFileMode === 'auto' && readsItself)) return undefined;
    return await readAgentFile(resolve(directory, agentFile));
  }

  async #report(
    { reportsChanges }: CompletionRequest,
    worktree: Worktree | undefined,
  ): Promise<WorktreeReport | undefined> {
    if (!worktree || !reportsChanges) return undefined;
    const { changes, patch, warning } = await worktree.changes();
    const window = new OutputWindow(this.#options.output(), { isAscii, isUtf8 });
    window.push(Buffer.from(patch));
    const { text } = window.render({ encoding: 'utf8', stripAnsi: false, collapseCr: false, hint: '' });
    return { changes, patch: text, ...(warning !== undefined && { warning }) };
  }
}

const repeated = (failure: AdapterError): AdapterError =>
  new AdapterError(failure.code, failure.message, {
    details: { ...failure.details, is_repeated: true },
    cause: failure,
  });

const modelOfTool = (driver: string, repoPath: string): ModelSettings => ({
  driver,
  repoPath,
  agentFile: 'AGENTS.md',
  agentFileMode: 'auto',
  worktree: false,
  normalizer: 'auto',
});

/**
 * Checks that the changes of a run can be told from others.
 * @throws AdapterError INVALID_REQUEST when it is to report them and has no worktree
 */
function assertReportable({ reportsChanges }: CompletionRequest, isIsolated: boolean): void {
  if (reportsChanges && !isIsolated)
    throw invalid('worktree_changes', 'only a run with a worktree can report what it has changed');
}

/**
 * Checks the directory of a model.
 * @throws AdapterError BAD_DIRECTORY
 */
function existingDirectory(path: string): string {
  if (isDirectory(path)) return path;
  throw new AdapterError('BAD_DIRECTORY', `${path}, where the model runs, is no directory`, {
    details: { directory: path },
  });
}
