import type { LlmUsage } from '../llm/usage.js';
import type { OpenAiError } from './failure.js';

/** An answer before it is encoded for one of the APIs. */
export interface EncodedAnswer {
  readonly content: string;
  /** Undefined when the tool reports none. */
  readonly usage: LlmUsage | undefined;
  /** Extension fields that are added to the answer. */
  readonly extra: object;
}

/** Encodes answers for one of OpenAI's APIs: as one object, or as events, in this order. */
export interface AnswerEncoding {
  /** Whether `[DONE]` follows the last event. */
  readonly hasDoneMark: boolean;
  whole(answer: EncodedAnswer): object;
  /** Events before the first piece of the answer. */
  begin(): readonly object[];
  /** Events for a piece of the answer. */
  piece(text: string): readonly object[];
  /** Events after the last piece. */
  end(answer: Omit<EncodedAnswer, 'content'>): readonly object[];
  /** Events of a failure after `begin`; nothing follows them. */
  fail(error: OpenAiError): readonly object[];
}
