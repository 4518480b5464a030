import type { JsonObject } from './json-events.js';

/** The form that an answer must have: JSON. An answer without a format is text. */
export interface AnswerFormat {
  /** The JSON Schema that the answer keeps to. */
  readonly schema: JsonObject;
  /** Whether any JSON object will do, so that the schema says nothing more. */
  readonly isAnyObject: boolean;
}
