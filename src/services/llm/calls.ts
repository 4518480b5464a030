import { realpathSync, statSync } from 'node:fs';
import { isAbsolute, relative, resolve } from 'node:path';

import { onAbort } from '../../core/abort.js';
import { canAccess, type Principal } from '../../core/principal.js';
import { AdapterError } from '../../core/errors.js';
import { callIdFrom, ID_BYTES } from '../../core/ids.js';
import { isPassedOn, llmError } from '../../core/llm/failure.js';
import { type Candidate, nameOf } from '../../core/llm/resolution.js';
import type { LlmSettings } from '../../core/llm/settings.js';
import type { Answer, Request } from '../../core/protocol/requests.js';
import { randomBytes } from '../../engine/system/random.js';
import type { Caller, EventSink } from '../registry/caller.js';
import { renderUse } from '../registry/rendered-limits.js';
import type { Execution, Executions } from '../executions.js';
import type { CallLog } from './call-log.js';
import { assertQuestion } from './invocation.js';
import type { EmitLlmEvent, LlmQuestion, LlmReply, Providers } from './providers.js';

/**
 * The directory in which a tool runs: the workspace, or a directory in it. What a tool may do there is the operator's
 * choice, so a client cannot choose another place.
 *
 * For another user the path alone is checked: links lead it no further than its rights go, and its tool enters the
 * directory.
 * @throws AdapterError BAD_DIRECTORY
 */
function workingDirectory(wanted: string | undefined, { pool: { cwd: workspace }, launch }: Execution): string {
  const path = resolve(workspace, wanted ?? '.');
  if (launch) {
    if (leadsOut(relative(workspace, path))) throw refusal(path, 'is not in the workspace');
    return path;
  }
  const real = realDirectory(path);
  const inside = relative(realDirectory(workspace), real);
  if (leadsOut(inside)) throw refusal(path, 'is not in the workspace');
  return real;
}

const leadsOut = (inside: string): boolean => inside === '..' || inside.startsWith('../') || isAbsolute(inside);

function realDirectory(path: string): string {
  let real: string;
  try {
    real = realpathSync(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw refusal(path, code === 'ENOENT' ? 'does not exist' : `cannot be entered (${code ?? 'unknown error'})`);
  }
  if (!statSync(real).isDirectory()) throw refusal(path, 'is not a directory');
  return real;
}

const refusal = (directory: string, why: string): AdapterError =>
  new AdapterError('BAD_DIRECTORY', `${directory} ${why}`, { details: { directory } });

type LlmRequest = Request<'llm_call'>;

/** A running or queued call. */
interface ActiveCall {
  readonly id: string;
  readonly owner: Principal;
  readonly sink: EventSink | undefined;
  readonly controller: AbortController;
  readonly ended: Promise<unknown>;
}

/** A call by the daemon itself. */
interface InternalCall {
  /** True when a command-line tool may only read, whatever the configuration grants. */
  readonly isReadOnly: boolean;
  readonly signal: AbortSignal;
}

/** What a call has beside its request. */
interface CallDelivery extends Partial<InternalCall> {
  readonly isStreamed: boolean;
  readonly emit: EmitLlmEvent;
}

/** Calls the providers of a request one after another, and cancels calls that no client waits for. */
export class LlmCalls implements AsyncDisposable {
  readonly providers: Providers;
  /** The calls under way and the last ones, those of the HTTP endpoint and reviews included. */
  readonly calls: CallLog;
  readonly #settings: () => LlmSettings;
  readonly #executions: Executions;
  readonly #active = new Set<ActiveCall>();
  #isClosed = false;

  constructor(providers: Providers, calls: CallLog, settings: () => LlmSettings, executions: Executions) {
    this.providers = providers;
    this.calls = calls;
    this.#settings = settings;
    this.#executions = executions;
  }

  /**
   * Calls an LLM.
   * @param internal undefined for a client's call, which a tool answers with what the configuration grants
   */
  async call(request: LlmRequest, caller: Caller, internal?: InternalCall): Promise<Answer<'llm_call'>> {
    const id = this.#claimId(request.call_id, caller.principal);
    return await this.#run(id, request, caller, { ...internal, isStreamed: false, emit: () => undefined });
  }

  /** Calls an LLM; the answer is also streamed to the caller's client. */
  async stream(request: LlmRequest, caller: Caller): Promise<Answer<'llm_stream'>> {
    const id = this.#claimId(request.call_id, caller.principal);
    let index = 0;
    const answer = await this.#run(id, request, caller, {
      isStreamed: true,
      emit: (event) => {
        if (event.type !== 'text') return;
        caller.sink?.send('llm_chunk', { call_id: id, index, content: event.text });
        index += 1;
      },
    });
    return { ...answer, chunk_count: index };
  }

  cancel({ call_id: id }: Request<'cancel_llm'>, principal: Principal): Answer<'cancel_llm'> {
    const calls = [...this.#active].filter((call) => call.id === id && canAccess(principal, call.owner.id, 'stop'));
    for (const { controller } of calls) controller.abort();
    return { call_id: id, cancelled: calls.length > 0 };
  }

  /** Handles the disconnect of a client: cancels its calls. */
  detach(sink: EventSink): void {
    for (const call of this.#active) if (call.sink?.id === sink.id) call.controller.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    for (const { controller } of this.#active) controller.abort();
    await Promise.all([...this.#active].map(({ ended }) => ended));
  }

  async #run(
    id: string,
    request: LlmRequest,
    { principal, sink }: Caller,
    { emit, signal, ...wish }: CallDelivery,
  ): Promise<Answer<'llm_call'>> {
    const startedAt = performance.now();
    const controller = new AbortController();
    const unlink = onAbort(signal, () => {
      controller.abort();
    });
    const answering = this.calls.record({ id, owner: principal, model: request.model }, emit, (logged) =>
      this.#answer(request, principal, { ...wish, signal: controller.signal }, logged),
    );
    const call: ActiveCall = { id, owner: principal, sink, controller, ended: answering.catch(() => undefined) };
    this.#active.add(call);
    if (sink?.isGone === true) this.detach(sink);
    try {
      const { candidate, content, usage = {}, model, session, use } = await answering;
      const { provider, shellProvider: shell_provider } = candidate;
      const duration_ms = performance.now() - startedAt;
      const resource_usage = use === undefined ? null : renderUse(use);
      return { content, usage, provider, shell_provider, model, session, resource_usage, call_id: id, duration_ms };
    } catch (error) {
      throw this.#isClosed ? new AdapterError('SHUTTING_DOWN', 'the daemon is being stopped', { cause: error }) : error;
    } finally {
      unlink();
      this.#active.delete(call);
    }
  }

  #claimId(wanted: string | undefined, { id: owner }: Principal): string {
    if (wanted === undefined) return callIdFrom(randomBytes(ID_BYTES));
    if (![...this.#active].some((call) => call.id === wanted && call.owner.id === owner)) return wanted;
    throw new AdapterError('INVALID_REQUEST', `call_id ${wanted} belongs to a call that is under way`, {
      details: { field: 'call_id' },
    });
  }

  async #answer(
    { messages, model, timeout_ms, cwd, ...wish }: LlmRequest,
    principal: Principal,
    delivery: Pick<LlmQuestion, 'isStreamed' | 'isReadOnly' | 'signal'>,
    emit: EmitLlmEvent,
  ): Promise<LlmReply & { readonly candidate: Candidate }> {
    assertQuestion(messages);
    this.#assertTimeout(timeout_ms);
    const execution = this.#executions.of(principal);
    const directory = workingDirectory(cwd, execution);
    const candidates = this.providers.resolve(wish);
    const question = { ...delivery, messages, model, cwd: directory, execution };
    return await this.#askInTurn(candidates, question, timeout_ms, emit);
  }

  /** The first answer is used. After a piece of an answer has been streamed, no further provider is tried. */
  async #askInTurn(
    candidates: readonly Candidate[],
    question: Omit<LlmQuestion, 'timeoutMs'>,
    wantedMs: number | undefined,
    emit: EmitLlmEvent,
  ): Promise<LlmReply & { readonly candidate: Candidate }> {
    const deadline = performance.now() + (wantedMs ?? Infinity);
    const failures: { readonly name: string; readonly error: AdapterError }[] = [];
    let textCount = 0;
    for (const candidate of candidates) {
      const ownMs = wantedMs ?? this.providers.timeoutMsOf(candidate);
      const timeoutMs = Math.max(1, Math.ceil(Math.min(deadline - performance.now(), ownMs)));
      try {
        const reply = await this.providers.ask(candidate, { ...question, timeoutMs }, (event) => {
          if (event.type === 'text') textCount += 1;
          emit(event);
        });
        return { ...reply, candidate };
      } catch (error) {
        if (!isPassedOn(error) || textCount > 0 || candidates.length === 1) throw error;
        failures.push({ name: nameOf(candidate), error });
      }
    }
    throw failureOfAll(failures);
  }

  /** @throws AdapterError INVALID_REQUEST when a requested timeout is longer than the configuration allows */
  #assertTimeout(ms: number | undefined): void {
    const { maxTimeoutMs: max } = this.#settings();
    if (ms === undefined || ms <= max) return;
    throw new AdapterError('INVALID_REQUEST', `timeout_ms: ${ms} is more than llm.max_timeout allows (${max} ms)`, {
      details: { field: 'timeout_ms', max },
    });
  }
}

/** The failure of a provider that ran is more informative than that of one that could not be called. */
function failureOfAll(failures: readonly { readonly name: string; readonly error: AdapterError }[]): AdapterError {
  const tried = failures.map(({ name, error: { code, message } }) => ({ name, code, message }));
  const last = failures.findLast(({ error }) => error.code !== 'LLM_UNAVAILABLE')?.error;
  if (last) return new AdapterError(last.code, last.message, { details: { ...last.details, tried }, cause: last });
  const reasons = tried.map(({ message }) => message).join('; ');
  const message = `no LLM provider can be asked: ${reasons || 'none is configured, and llm.fallback is empty'}`;
  return llmError('unavailable', message, { tried });
}
