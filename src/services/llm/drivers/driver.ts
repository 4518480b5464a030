import type { AccessMode, PromptStyle } from '../../../core/llm/settings.js';
import { type JsonObject, numberOf, objectOf, textOf } from '../../../core/json.js';
import type { Answer } from '../../../core/llm/answer.js';
import { type FailureKind, kindOfError, type StructuredError } from '../../../core/llm/failure.js';

/** Largest prompt of a tool. Beyond it, some tools refuse the prompt, some truncate it silently, some hang. */
export interface PromptLimit {
  readonly max: number;
  readonly unit: 'bytes' | 'characters';
}

export interface AccessGrant {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Placeholder in arguments for the path of the file with the JSON Schema. */
export const SCHEMA_FILE = '{schema_file}';

/** How a tool takes the JSON Schema of its answer. */
interface StructuredOutput {
  /** @param schema as JSON; a tool that reads it from a file has `{schema_file}` in its arguments */
  readonly args: (schema: string) => readonly string[];
  /** True when it accepts a schema that only requires an object. */
  readonly takesAnyObject: boolean;
}

/** Description of one command-line tool: data, and pure functions. */
export interface CliDriver {
  readonly name: string;
  /** Names of the program on PATH; the first one found is used. */
  readonly binaries: readonly string[];
  /** Arguments for running without a terminal and with structured output. */
  readonly args: readonly string[];
  /** Arguments that replace them for a prompt larger than `aboveBytes`. */
  readonly largePrompt?: { readonly aboveBytes: number; readonly args: readonly string[] };
  /** Additions for each access mode; undefined for a tool known only from the configuration. */
  readonly access?: Readonly<Record<AccessMode, AccessGrant>>;
  /** Standard input, unless the tool accepts only an argument. */
  readonly promptBy: 'stdin' | 'argument';
  readonly promptStyle: PromptStyle;
  readonly promptLimit: PromptLimit;
  /** Undefined for a tool without an option for the model. */
  readonly modelArgs?: (model: string) => readonly string[];
  /** Undefined for a tool that takes no system prompt separate from the prompt. */
  readonly systemArgs?: (text: string) => readonly string[];
  /** Options for a JSON Schema; undefined for a tool without support. */
  readonly structured?: StructuredOutput;
  /** Arguments that keep a tool from reading AGENTS.md automatically; undefined for one that does not read it. */
  readonly agentFileArgs?: readonly string[];
  /** Variables that make it run without updates, prompts and long retries. */
  readonly env?: Readonly<Record<string, string>>;
  /** Variables that the tool inherits from the daemon: its keys and settings; a trailing `*` is a wildcard. */
  readonly variables: readonly string[];
  /** Reads one event of its structured output; undefined for a tool that prints only its answer. */
  readonly readEvent?: (event: JsonObject, answer: Answer) => void;
  /**
   * Exit codes with a known cause. A code above 128 need not be a signal: some tools exit with the status of a
   * response.
   */
  readonly exitKinds?: Readonly<Record<number, FailureKind>>;
}

/** Any other tool: it reads the prompt on standard input and prints the answer. The configuration defines the rest. */
export const generic: CliDriver = {
  name: 'generic',
  binaries: [],
  args: [],
  promptBy: 'stdin',
  promptStyle: 'plain',
  promptLimit: { max: 16 * 1024 * 1024, unit: 'bytes' },
  variables: [],
};

/** Returns arguments such as `--model NAME`. */
export const flagged =
  (flag: string) =>
  (value: string): readonly string[] => [flag, value];

/**
 * Prefixes of the error messages in error events of codex and qwen, each with the HTTP status of the service. Source:
 * codex 0.169 and qwen 0.15.
 */
const STATUS_PREFIX = /^(?:\[API Error: |unexpected status |exceeded retry limit, last status: )(\d{3})\b/;

/** A service's own JSON in a message: alone, or in the form of gemini. */
const QUOTED_JSON = /^(?:\[API Error: )?(\{[\s\S]*\})\]?$/;

/** The parsed error message of a tool's event. */
interface ServiceError {
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
