import type { Answer } from '../../core/llm/answer.js';
import type { FailureKind } from '../../core/llm/failure.js';
import type { JsonObject } from '../../core/llm/json-events.js';
import type { AccessMode } from '../../core/llm/access-mode.js';
import type { PromptStyle } from '../../core/llm/settings.js';

/** How large a prompt may be. What a tool does beyond it differs: some refuse, some cut it silently, some hang. */
export interface PromptLimit {
  readonly max: number;
  readonly unit: 'bytes' | 'characters';
}

/** How a tool is told what it may do. */
export interface AccessGrant {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Stands in arguments for the path of the file with the JSON Schema. */
export const SCHEMA_FILE = '{schema_file}';

/** How a tool is told the JSON Schema that its answer has to keep to. */
interface StructuredOutput {
  /** @param schema as JSON; a tool that wants it in a file has `{schema_file}` in its arguments */
  readonly args: (schema: string) => readonly string[];
  /** Whether it takes a schema that says no more than that the answer is an object. */
  readonly takesAnyObject: boolean;
}

/** All that is particular about one command-line tool: data, and pure functions. */
export interface CliDriver {
  readonly name: string;
  /** Names on PATH under which it is installed, the first that is there counts. */
  readonly binaries: readonly string[];
  /** What it is started with: without a terminal, and its output structured. */
  readonly args: readonly string[];
  /** What it is started with instead for a prompt larger than so many bytes. */
  readonly largePrompt?: { readonly aboveBytes: number; readonly args: readonly string[] };
  /** What is added for each access mode; undefined for a tool of which only the configuration knows. */
  readonly access: Readonly<Record<AccessMode, AccessGrant>> | undefined;
  /** Standard input unless the tool has no other way than an argument. */
  readonly promptBy: 'stdin' | 'argument';
  readonly promptStyle: PromptStyle;
  readonly promptLimit: PromptLimit;
  /** Undefined for a tool that cannot be told a model. */
  readonly modelArgs: ((model: string) => readonly string[]) | undefined;
  /** Undefined for a tool that takes no system prompt beside the prompt. */
  readonly systemArgs: ((text: string) => readonly string[]) | undefined;
  /** How it is held to a JSON Schema; undefined for a tool that cannot be. */
  readonly structured: StructuredOutput | undefined;
  /** What keeps a tool that reads AGENTS.md by itself from doing so; undefined for one that does not read it. */
  readonly agentFileArgs: readonly string[] | undefined;
  /** Variables that keep it quiet and quick. */
  readonly env: Readonly<Record<string, string>>;
  /** Variables of the daemon that it gets: its keys and settings; `*` at the end stands for anything. */
  readonly variables: readonly string[];
  /** Takes one event of its structured output; undefined for a tool that prints its answer and nothing else. */
  readonly readEvent: ((event: JsonObject, answer: Answer) => void) | undefined;
  /** Exit codes that tell the reason. A code above 128 need not be a signal: some exit with the status of a response. */
  readonly exitKinds: Readonly<Record<number, FailureKind>>;
}

/** `--model NAME` and the like. */
export const flagged =
  (flag: string) =>
  (value: string): readonly string[] => [flag, value];
