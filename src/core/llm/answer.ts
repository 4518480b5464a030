import type { FailureKind } from './failure.js';
import type { LlmUsage } from './usage.js';

/** Between two messages of one answer, where they are streamed one after the other. */
const MESSAGE_SEPARATOR = '\n\n';

/**
 * An answer as it comes together from what a tool prints. What is streamed is everything that the tool says; the text is its
 * final message.
 */
export class Answer {
  usage: LlmUsage | undefined;
  /** The tool's own name for the conversation, by which it can be resumed. */
  session: string | undefined;
  model: string | undefined;
  /** What the last event said about an error that may still be overcome. It counts only if the tool then fails. */
  failureHint: FailureKind | undefined;
  #chunks: string[] = [];
  #message = '';
  #final: string | undefined;
  #failure: string | undefined;
  #failureKind: FailureKind | undefined;
  #hasStreamed = false;
  #isBetween = false;
  #isFinished = false;

  /** Whether the tool has said that it is done. Some do not end after that. */
  get isFinished(): boolean {
    return this.#isFinished;
  }

  /** What the tool says has gone wrong. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** What the tool's structured error means; undefined when the tool does not say. */
  get failureKind(): FailureKind | undefined {
    return this.#failure === undefined ? undefined : (this.#failureKind ?? this.failureHint);
  }

  /** Whether something was streamed. */
  get hasStreamed(): boolean {
    return this.#hasStreamed;
  }

  get text(): string {
    return this.#final ?? this.#message;
  }

  /** The next piece of the message. */
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

  /** What comes next belongs to another message. */
  beginMessage(): void {
    this.#isBetween = true;
  }

  /** A whole message. */
  message(text: string): void {
    this.beginMessage();
    this.delta(text);
  }

  /** The tool is done; `text` is the final message, where the tool repeats it. */
  finish(text?: string): void {
    this.#isFinished = true;
    if (text !== undefined) this.settle(text);
  }

  /** What of all that came is the answer, streamed at the latest now. */
  settle(text: string): void {
    if (!this.#hasStreamed) this.delta(text);
    this.#final = text;
  }

  /** What is the answer if the run was a good one; until that is known it is not streamed. */
  propose(text: string): void {
    this.#final = text;
  }

  /**
   * The tool has failed, and says why. The first reason counts.
   * @param kind what the structured part of its error means; undefined when it has none
   */
  fail(why: string, kind?: FailureKind): void {
    this.#isFinished = true;
    this.#failure ??= why;
    this.#failureKind ??= kind;
  }

  /** What is to be streamed since the last time. */
  takeChunks(): string[] {
    return this.#chunks.splice(0);
  }
}
