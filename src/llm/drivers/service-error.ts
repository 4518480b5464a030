import { type FailureKind, kindOfError, type StructuredError } from '../../core/llm/failure.js';
import { type JsonObject, numberOf, objectOf, textOf } from '../../core/llm/json-events.js';

/**
 * Prefixes of the error messages in error events of codex and qwen, each with the HTTP status of the service. Source:
 * codex 0.169 and qwen 0.15.
 */
const STATUS_PREFIX = /^(?:\[API Error: |unexpected status |exceeded retry limit, last status: )(\d{3})\b/;

/** A service's own JSON in a message: alone, or in the form of gemini. */
const QUOTED_JSON = /^(?:\[API Error: )?(\{[\s\S]*\})\]?$/;

/** The parsed error message of a tool's event. */
export interface ServiceError {
  /** The service's own message where the event quotes its JSON, otherwise the unchanged message. */
  readonly message: string;
  /** Undefined when neither a status nor a code is given. */
  readonly kind: FailureKind | undefined;
}

/**
 * Parses the message of an error event: gemini and codex quote the service's JSON, codex and qwen start with its
 * status.
 */
export function readServiceError(message: string): ServiceError {
  const quoted = parseObject(QUOTED_JSON.exec(message)?.[1]);
  if (quoted) {
    const error = objectOf(quoted['error']);
    return { message: textOf(error['message']) ?? message, kind: kindOfError(structureOf(error)) };
  }
  const status = Number(STATUS_PREFIX.exec(message)?.[1] ?? 0);
  return { message, kind: kindOfError({ status }) };
}

/**
 * OpenAI's services return `code` and `type` as text; Google's return the HTTP status as `code` and a name as `status`.
 */
function structureOf(error: JsonObject): StructuredError {
  const code = textOf(error['code']) ?? textOf(error['status']) ?? textOf(error['type']);
  return { status: numberOf(error['code']) ?? numberOf(error['status']), code };
}

function parseObject(json: string | undefined): JsonObject | undefined {
  if (json === undefined) return undefined;
  try {
    return objectOf(JSON.parse(json));
  } catch {
    // A SyntaxError: the message only resembles JSON.
    return undefined;
  }
}
