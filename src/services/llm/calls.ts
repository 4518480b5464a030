import { realpathSync, statSync } from 'node:fs';
import { isAbsolute, relative, resolve } from 'node:path';

import { canAccess, type Principal } from '../../core/principal.js';
import { AdapterError } from '../../core/errors.js';
import { callIdFrom, ID_BYTES } from '../../core/ids.js';
import { isPassedOn, llmError } from '../../core/llm/failure.js';
import { type Candidate, type Choice, nameOf, resolveProviders } from '../../core/llm/resolution.js';
import { HTTP_PROVIDERS, type LlmSettings } from '../../core/llm/settings.js';
import type { Answer, Request } from '../../core/protocol/requests.js';
import { randomBytes } from '../../engine/system/random.js';
import type { Caller, EventSink } from '../registry/caller.js';
import { renderUse } from '../registry/rendered-limits.js';
import type { Execution, Executions } from '../executions.js';
import type { CallLog } from './call-log.js';
import type { Availability, CallMeter, LlmQuestion, LlmReply } from './call.js';
import type { HttpProviders } from './http-providers.js';
import { assertQuestion } from './invocation.js';
import type { Providers } from './providers.js';
import type { ShellCatalogue } from './shell-catalogue.js';

/**
 * The directory in which a tool runs: the workspace, or a directory in it. What a tool may do there is the operator's
 * choice, so a client cannot choose another place.
 *
 * For another user the path alone is checked: links lead it no further than its rights go, and its tool enters the
 * directory.
 * @throws AdapterError BAD_DIRECTORY
 */
function workingDirectory(
  wanted: string | undefined,
  { pool: { cwd: workspace }, launch }: Pick<Execution, 'pool' | 'launch'>,
): string {
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

/** Dependencies of `LlmCalls`. */
interface LlmCallsOptions {
  readonly settings: () => LlmSettings;
  readonly catalogue: ShellCatalogue;
  readonly providers: Providers;
  readonly meter: CallMeter;
  readonly log: CallLog;
  readonly services: HttpProviders;
  readonly executions: Pick<Executions, 'of'>;
}

/** A running or queued call. */
interface ActiveCall {
  readonly id: string;
  readonly owner: Principal;
  readonly sink: EventSink | undefined;
  readonly controller: AbortController;
  readonly ended: Promise<unknown>;
}

/** Options for callers within the daemon, beyond a request. */
interface LlmCallOptions {
  /** True when a command-line tool may only read, whatever the configuration grants. */
  readonly isReadOnly: boolean;
}

/** Options of a call beside its request. */
type CallExtra = Partial<Pick<LlmQuestion, 'onChunk' | 'isReadOnly'>>;

/** Resolves the providers of a call, calls one after another, and cancels calls that no client waits for. */
export class LlmCalls implements AsyncDisposable {
  readonly #options: LlmCallsOptions;
  readonly #active = new Set<ActiveCall>();
  #isClosed = false;

  constructor(options: LlmCallsOptions) {
    this.#options = options;
  }

  /** The calls under way and the last ones, those of the HTTP endpoint and reviews included. */
  get calls(): CallLog {
    return this.#options.log;
  }

  /**
   * Calls an LLM.
   * @param options by default a tool may do what the configuration grants
   */
  call(request: LlmRequest, caller: Caller, options?: LlmCallOptions): Promise<Answer<'llm_call'>> {
    return this.#start(request, caller, () => options);
  }

  /** Calls an LLM; the answer is also streamed to the caller's client. */
  async stream(request: LlmRequest, caller: Caller): Promise<Answer<'llm_stream'>> {
    let index = 0;
    const answer = await this.#start(request, caller, (callId) => ({
      onChunk: (content) => {
        caller.sink?.send('llm_chunk', { call_id: callId, index, content });
        index += 1;
      },
    }));
    return { ...answer, chunk_count: index };
  }

  /** Cancels a running or queued call. */
  cancel({ call_id: id }: Request<'cancel_llm'>, principal: Principal): Answer<'cancel_llm'> {
    const calls = [...this.#active].filter((call) => call.id === id && canAccess(principal, call.owner.id, 'stop'));
    for (const { controller } of calls) controller.abort();
    return { call_id: id, cancelled: calls.length > 0 };
  }

  /** Lists the available providers. */
  list(): Answer<'list_llm_providers'> {
    const { catalogue, services } = this.#options;
    const describe = ({ provider, shellProvider }: Candidate, availability: Availability) => ({
      provider,
      shell_provider: shellProvider,
      available: availability.available,
      reason: availability.available ? null : availability.reason,
      command: availability.available ? availability.command : null,
    });
    return {
      providers: [
        ...catalogue.names.map((name) => {
          return describe({ provider: 'shell', shellProvider: name }, catalogue.availability(name));
        }),
        ...HTTP_PROVIDERS.map((name) => {
          return describe({ provider: name, shellProvider: null }, services.availability(name));
        }),
      ],
      auto: resolveProviders({}, this.#choice).map(nameOf),
    };
  }

  /** Running and queued calls, of every provider that was ever called, completions included. */
  running(): CallMeter['running'] {
    return this.#options.meter.running;
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

  get #choice(): Choice {
    const { provider, fallback } = this.#options.settings();
    const { catalogue, services } = this.#options;
    return { provider, fallback, shellProviders: catalogue.names, configured: services.configured };
  }

  async #start(
    request: LlmRequest,
    { principal, sink }: Caller,
    extraFor: (callId: string) => CallExtra | undefined,
  ): Promise<Answer<'llm_call'>> {
    const startedAt = performance.now();
    const id = this.#claimId(request.call_id, principal);
    const controller = new AbortController();
    const { signal } = controller;
    const logged = { id, owner: principal, model: request.model };
    const answering = this.#options.log.record(logged, (progress) =>
      this.#answer(request, principal, { onChunk: undefined, ...extraFor(id), signal, progress }),
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
    extra: Pick<LlmQuestion, 'onChunk' | 'isReadOnly' | 'signal' | 'progress'>,
  ): Promise<LlmReply & { readonly candidate: Candidate }> {
    assertQuestion(messages);
    const timeoutMs = this.#checkTimeout(timeout_ms);
    const execution = this.#options.executions.of(principal);
    const directory = workingDirectory(cwd, execution);
    const candidates = resolveProviders(wish, this.#choice);
    const question = { ...extra, messages, model, cwd: directory, timeoutMs, execution };
    return await this.#askInTurn(candidates, question);
  }

  /** The first answer is used. After a piece of an answer has been streamed, no further provider is tried. */
  async #askInTurn(
    candidates: readonly Candidate[],
    question: LlmQuestion,
  ): Promise<LlmReply & { readonly candidate: Candidate }> {
    const { timeoutMs, onChunk } = question;
    const deadline = performance.now() + (timeoutMs ?? Infinity);
    const failures: { readonly name: string; readonly error: AdapterError }[] = [];
    let streamed = 0;
    const listener =
      onChunk &&
      ((text: string) => {
        streamed += 1;
        onChunk(text);
      });
    for (const candidate of candidates) {
      const ms = Math.max(
        1,
        Math.ceil(Math.min(deadline - performance.now(), this.#ownTimeoutMs(candidate, timeoutMs))),
      );
      try {
        const reply = await this.#options.providers.ask(candidate, { ...question, onChunk: listener, timeoutMs: ms });
        return { ...reply, candidate };
      } catch (error) {
        if (!isPassedOn(error) || streamed > 0 || candidates.length === 1) throw error;
        failures.push({ name: nameOf(candidate), error });
      }
    }
    throw failureOfAll(failures);
  }

  #ownTimeoutMs({ shellProvider }: Candidate, wantedMs: number | undefined): number {
    if (wantedMs !== undefined) return wantedMs;
    const { settings, catalogue } = this.#options;
    return shellProvider === null ? settings().timeoutMs : catalogue.timeoutMsOf(shellProvider);
  }

  /**
   * Checks a requested timeout.
   * @throws AdapterError INVALID_REQUEST when it is longer than the configuration allows
   */
  #checkTimeout(ms: number | undefined): number | undefined {
    const { maxTimeoutMs: max } = this.#options.settings();
    if (ms === undefined || ms <= max) return ms;
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
