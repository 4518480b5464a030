import { type JsonObject, objectOf } from '../json.js';
import type { FailureKind } from './failure.js';

/** Tokens of a call, as far as the provider reports them. `prompt_tokens` includes those from a cache. */
export interface LlmUsage {
  readonly prompt_tokens?: number | undefined;
  readonly completion_tokens?: number | undefined;
  readonly total_tokens?: number | undefined;
  readonly cached_tokens?: number | undefined;
  readonly reasoning_tokens?: number | undefined;
  readonly cost_usd?: number | undefined;
}

/** Tokens as a tool reports them, each 0 when not reported. */
interface TokenCounts {
  readonly prompt: number;
  readonly completion: number;
  readonly cached?: number | undefined;
  readonly reasoning?: number | undefined;
  readonly costUsd?: number | undefined;
}

/** The usage of a call; unknown values are omitted, never estimated. */
export function usageOf({ prompt, completion, cached, reasoning, costUsd }: TokenCounts): LlmUsage {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(cached !== undefined && { cached_tokens: cached }),
    ...(reasoning !== undefined && { reasoning_tokens: reasoning }),
    ...(costUsd !== undefined && { cost_usd: costUsd }),
  };
}

/** Separates two messages of one answer when they are streamed one after the other. */
const MESSAGE_SEPARATOR = '\n\n';

/**
 * Assembles an answer from the output of a tool. All messages of the tool are streamed; the text is its final message.
 */
export class Answer {
  usage: LlmUsage | undefined;
  /** Id that the tool gave the conversation; the conversation can be resumed with it. */
  session: string | undefined;
  model: string | undefined;
  /**
   * Failure kind of the last event about an error that may still be overcome. It counts only if the tool then fails.
   */
  failureHint: FailureKind | undefined;
  #chunks: string[] = [];
  #message = '';
  #final: string | undefined;
  #failure: string | undefined;
  #failureKind: FailureKind | undefined;
  #hasStreamed = false;
  #isBetween = false;
  #isFinished = false;

  /** Whether the tool has reported completion. Some tools do not exit after that. */
  get isFinished(): boolean {
    return this.#isFinished;
  }

  get failure(): string | undefined {
    return this.#failure;
  }

  /** Kind of the tool's structured error; undefined when the tool reports none. */
  get failureKind(): FailureKind | undefined {
    return this.#failure === undefined ? undefined : (this.#failureKind ?? this.failureHint);
  }

  get hasStreamed(): boolean {
    return this.#hasStreamed;
  }

  /** The final text if the tool has given one; otherwise the message so far. */
  get text(): string {
    return this.#final ?? this.#message;
  }

  delta(text: string): void {
    if (text === '') return;
    if (this.#isBetween) {
      this.#message = '';
      if (this.#hasStreamed) this.#chunks.push(MESSAGE_SEPARATOR);
    }
    this.#isBetween = false;
    this.#hasStreamed = true;
    this.#message += text;
    this.#chunks.push(text);
  }

  beginMessage(): void {
    this.#isBetween = true;
  }

  message(text: string): void {
    this.beginMessage();
    this.delta(text);
  }

  /** Marks the tool as done; `text` is the final message, when the tool repeats it. */
  finish(text?: string): void {
    this.#isFinished = true;
    if (text !== undefined) this.settle(text);
  }

  /** Sets the final answer, and streams it if that has not happened yet. */
  settle(text: string): void {
    if (!this.#hasStreamed) this.delta(text);
    this.#final = text;
  }

  /** Sets the answer that is valid if the run succeeds; until then it is not streamed. */
  propose(text: string): void {
    this.#final = text;
  }

  /**
   * Records a failure with its reason. The first reason counts.
   * @param kind meaning of the structured part of the error; undefined when it has none
   */
  fail(why: string, kind?: FailureKind): void {
    this.#isFinished = true;
    this.#failure ??= why;
    this.#failureKind ??= kind;
  }

  /** Returns the text to stream since the last call. */
  takeChunks(): string[] {
    return this.#chunks.splice(0);
  }
}

/** Most characters of other output that are kept for messages; the last ones are kept. */
const MAX_NOISE_CHARACTERS = 4096;

/**
 * Whether an object is an event of a tool, rather than JSON in a model's answer. Events of tools have a type, or are
 * the single document of a session, or a response with its outcome.
 */
const isEvent = (value: unknown): value is JsonObject => {
  const { type, session_id: session, response, error, stats } = objectOf(value);
  const isDocument = typeof response === 'string' && typeof (error ?? stats) === 'object';
  return typeof type === 'string' || typeof session === 'string' || isDocument;
};

/** Beginning of a complete or incomplete event. */
const EVENT_BEGINS = /^\s*\[?\s*\{\s*"(?:type|session_id)"\s*:/;

/** Whether a text is an incomplete event, or an incomplete list of events. */
export const isTornEvent = (text: string): boolean => EVENT_BEGINS.test(text);

/**
 * Extracts the events from the output of a tool: objects, one per line, or the whole output as one object or list.
 * Everything else is noise.
 */
export class JsonEvents {
  readonly #onEvent: (event: JsonObject) => void;
  #line = '';
  /** All non-event output, as long as no event has been found: it may be one document over many lines. */
  #document = '';
  #noise = '';
  #hasEvents = false;

  constructor(onEvent: (event: JsonObject) => void) {
    this.#onEvent = onEvent;
  }

  get hasEvents(): boolean {
    return this.#hasEvents;
  }

  /** The last part of the non-event output. */
  get noise(): string {
    return this.#noise;
  }

  /** Processes the next part of the output; an unfinished line waits for the part after it. */
  push(text: string): void {
    const lines = text.split('\n');
    lines[0] = this.#line + (lines[0] ?? '');
    this.#line = lines.pop() ?? '';
    for (const line of lines) this.#take(line);
  }

  end(): void {
    const rest = this.#line;
    this.#line = '';
    if (rest !== '') this.#take(rest);
    if (!this.#hasEvents && this.#emit(this.#document.trim())) this.#noise = '';
    this.#document = '';
  }

  #take(line: string): void {
    if (line.trimStart().startsWith('{') && this.#emit(line)) {
      this.#document = '';
      return;
    }
    if (line.trim() === '') return;
    this.#noise = `${this.#noise}${line}\n`.slice(-MAX_NOISE_CHARACTERS);
    if (!this.#hasEvents) this.#document += `${line}\n`;
  }

  /** Emits the events in a text, if it is an object or a list of objects. */
  #emit(text: string): boolean {
    const events = parse(text);
    for (const event of events) {
      this.#hasEvents = true;
      this.#onEvent(event);
    }
    return events.length > 0;
  }
}

function parse(text: string): JsonObject[] {
  if (!/^\s*[{[]/.test(text)) return [];
  try {
    const value = JSON.parse(text) as unknown;
    return [value].flat().filter(isEvent);
  } catch {
    // A SyntaxError: the line only begins like an object.
    return [];
  }
}

/** The required form of an answer: JSON. An answer without a format is text. */
export interface AnswerFormat {
  readonly schema: JsonObject;
  /** Whether any JSON object is valid, so that the schema adds no restriction. */
  readonly isAnyObject: boolean;
}

/** The last paragraph of a text, for tools that print their progress before the answer. */
export const lastBlock = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .trim()
    .split(/\n[ \t]*\n/)
    .at(-1)
    ?.trim() ?? '';
