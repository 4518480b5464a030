import type { JsonObject } from './json-events.js';

/** The required form of an answer: JSON. An answer without a format is text. */
export interface AnswerFormat {
  /** The JSON Schema of the answer. */
  readonly schema: JsonObject;
  /** Whether any JSON object is valid, so that the schema adds no restriction. */
  readonly isAnyObject: boolean;
}
