import { type Principal, canAccess } from '../../core/principal.js';
import { AdapterError } from '../../core/errors.js';
import type { Candidate } from '../../core/llm/resolution.js';
import type { Answer, Request } from '../../core/protocol/requests.js';
import type { LlmCallInfo } from '../../core/protocol/shapes.js';
import { renderUse } from '../registry/rendered-limits.js';
import type { EmitLlmEvent, LlmEvent, LlmReply } from './providers.js';

/** Number of ended calls that are remembered. */
const MAX_ENDED = 100;

export interface LoggedCall {
  readonly id: string;
  readonly owner: Principal;
  /** Undefined for the provider's own. */
  readonly model: string | undefined;
}

interface Entry {
  readonly call: LoggedCall;
  readonly startedAt: Date;
  /** On the monotonic clock. */
  readonly since: number;
  candidate: Candidate | undefined;
  state: string;
  /** Undefined while the call is under way. */
  durationMs: number | undefined;
  model: string | null;
  usage: LlmCallInfo['usage'];
  use: LlmCallInfo['resource_usage'];
  /** Revision of the last change. */
  changedAt: number;
}

/** Remembers the LLM calls under way, and the last that have ended: who asked which provider, never the messages. */
export class CallLog {
  /** In the order of their starts. */
  readonly #active = new Set<Entry>();
  /** In the order of their ends. */
  readonly #ended: Entry[] = [];
  readonly #node: string | undefined;
  #revision = 0;

  /** @param node name of this node of a cluster; undefined for a daemon alone */
  constructor(node: string | undefined) {
    this.#node = node;
  }

  /** A number that rises with each change. */
  get revision(): number {
    return this.#revision;
  }

  /** Lists the calls that a principal may see, the newest first. */
  list({ limit }: Request<'list_llm_calls'>, principal: Principal): Answer<'list_llm_calls'> {
    return { calls: this.changedSince(0, principal).slice(0, limit) };
  }

  /** The calls that a principal may see and that have changed after a revision, the newest first. 0 gives all. */
  changedSince(revision: number, principal: Principal): LlmCallInfo[] {
    const seen = [...this.#ended, ...this.#active].filter(
      ({ changedAt, call }) => changedAt > revision && canAccess(principal, call.owner.id, 'see'),
    );
    return seen.sort((a, b) => b.since - a.since).map((entry) => render(entry, this.#node));
  }

  /**
   * Remembers a call from now on.
   * @param ask calls providers; its events are followed, and passed on
   */
  async record<R extends LlmReply>(
    call: LoggedCall,
    emit: EmitLlmEvent,
    ask: (emit: EmitLlmEvent) => Promise<R>,
  ): Promise<R> {
    const entry: Entry = {
      call,
      startedAt: new Date(),
      since: performance.now(),
      candidate: undefined,
      state: 'waiting',
      durationMs: undefined,
      model: call.model ?? null,
      usage: null,
      use: null,
      changedAt: 0,
    };
    this.#active.add(entry);
    this.#note(entry, {});
    try {
      const reply = await ask((event) => {
        this.#follow(entry, event);
        emit(event);
      });
      const { usage = {}, model, use } = reply;
      this.#end(entry, {
        state: 'ok',
        usage,
        model: model ?? entry.model,
        use: use === undefined ? null : renderUse(use),
      });
      return reply;
    } catch (error) {
      this.#end(entry, { state: codeOf(error), use: useOf(error) });
      throw error;
    }
  }

  #follow(entry: Entry, event: LlmEvent): void {
    if (event.type === 'asked') this.#note(entry, { candidate: event.candidate, state: 'waiting' });
    else if (event.type === 'running') this.#note(entry, { state: 'running' });
  }

  #end(entry: Entry, change: Partial<Entry>): void {
    this.#note(entry, { ...change, durationMs: performance.now() - entry.since });
    this.#active.delete(entry);
    this.#ended.push(entry);
    if (this.#ended.length > MAX_ENDED) this.#ended.shift();
  }

  #note(entry: Entry, change: Partial<Entry>): void {
    this.#revision += 1;
    Object.assign(entry, change, { changedAt: this.#revision });
  }
}

function render(entry: Entry, node: string | undefined): LlmCallInfo {
  const { call, candidate, startedAt, since, state, durationMs, model, usage, use } = entry;
  return {
    call_id: call.id,
    ...(node !== undefined && { node }),
    owner: call.owner.name,
    provider: candidate?.provider ?? null,
    shell_provider: candidate?.shellProvider ?? null,
    model,
    state,
    started_at: startedAt.toISOString(),
    duration_ms: Math.round(durationMs ?? performance.now() - since),
    usage,
    resource_usage: use,
  };
}

const codeOf = (error: unknown): string => (error instanceof AdapterError ? error.code : 'INTERNAL');

/** A tool that has failed reports its resource use in the details of the error. */
function useOf(error: unknown): LlmCallInfo['resource_usage'] {
  const use = error instanceof AdapterError ? error.details?.['resource_usage'] : undefined;
  return (use as LlmCallInfo['resource_usage'] | undefined) ?? null;
}
