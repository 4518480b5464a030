import { AdapterError } from '../core/errors.js';
import { llmError } from '../core/llm/failure.js';
import { composePrompt, type LlmMessage } from '../core/llm/messages.js';
import type { ShellProviderSettings } from '../core/llm/settings.js';
import { accessGrant } from './access.js';
import type { LlmQuestion } from './call.js';
import { type CliDriver, flagged, type PromptLimit } from './drivers/driver.js';

/** Linux takes 131 071 bytes in one argument; what is larger goes another way. */
const MAX_ARGUMENT_BYTES = 100_000;

/** Stands in arguments for the path of the file with the prompt. */
export const INPUT_FILE = '{input_file}';

/** Names of models that mean the tool's own choice. */
const NO_MODEL: ReadonlySet<string> = new Set(['', 'default', 'unknown']);

/** A tool with what the configuration says of it. */
export interface ShellProvider {
  readonly name: string;
  readonly driver: CliDriver;
  readonly settings: ShellProviderSettings;
}

/** How a tool is called for one question. */
export interface Invocation {
  /** With `{input_file}` where the path of the file belongs. */
  readonly args: readonly string[];
  /** Undefined for none. */
  readonly stdin: string | undefined;
  /** Content of the file; undefined for none. */
  readonly inputFile: string | undefined;
  /** The JSON Schema, for arguments with `{schema_file}`; undefined for none. */
  readonly schemaFile?: string | undefined;
}

/** What of a question decides how a tool is called. */
type InvocationQuestion = Pick<LlmQuestion, 'messages' | 'model' | 'hasAgentFile' | 'access' | 'isReadOnly' | 'format'>;

/**
 * How a tool is called.
 * @throws AdapterError LLM_PROMPT_TOO_LARGE, LLM_MODEL_NOT_FOUND
 */
export function invocationOf(provider: ShellProvider, question: InvocationQuestion): Invocation {
  const { driver, settings } = provider;
  const systemArgs = settings.systemFlag === undefined ? driver.systemArgs : flagged(settings.systemFlag);
  const { prompt, system } = compose(question.messages, provider, systemArgs !== undefined);
  checkSize(provider, prompt);
  const schema = question.format && JSON.stringify(question.format.schema);
  const args = [
    ...(settings.args ?? argsFor(driver, prompt)),
    ...accessGrant(provider, question).args,
    ...modelArgs(provider, question.model),
    ...(system === undefined ? [] : (systemArgs?.(system) ?? [])),
    ...(schema === undefined ? [] : (driver.structured?.args(schema) ?? [])),
    // Arguments of the configuration may be for another version of the tool.
    ...(question.hasAgentFile === true && settings.args === undefined ? (driver.agentFileArgs ?? []) : []),
  ];
  return { ...placePrompt(provider, args, prompt), schemaFile: schema };
}

/** Puts the prompt into a file, into an argument, or on standard input. */
function placePrompt({ driver, settings }: ShellProvider, args: readonly string[], prompt: string): Invocation {
  if (settings.stdinMode === 'file') return { args, stdin: undefined, inputFile: prompt };
  const flag = settings.promptFlag ?? (driver.promptBy === 'argument' ? 'positional' : undefined);
  // Without standard input as a way out, the limit of the driver has seen to the size.
  if (flag === undefined || byteLength(prompt) > MAX_ARGUMENT_BYTES) {
    return { args, stdin: prompt, inputFile: undefined };
  }
  // A prompt that begins like an option would be taken for one.
  const argument = prompt.startsWith('-') ? ` ${prompt}` : prompt;
  return {
    args: [...args, ...(flag === 'positional' ? [] : [flag]), argument],
    stdin: undefined,
    inputFile: undefined,
  };
}

const argsFor = ({ args, largePrompt }: CliDriver, prompt: string): readonly string[] =>
  largePrompt && byteLength(prompt) > largePrompt.aboveBytes ? largePrompt.args : args;

/** A system prompt that does not fit into an argument goes with the prompt. */
function compose(messages: readonly LlmMessage[], { driver, settings }: ShellProvider, takesSystem: boolean) {
  const style = settings.promptStyle ?? driver.promptStyle;
  const composed = composePrompt(messages, style, takesSystem);
  const isTooLong = byteLength(composed.system ?? '') > MAX_ARGUMENT_BYTES;
  return isTooLong ? composePrompt(messages, style, false) : composed;
}

function modelArgs({ name, driver, settings }: ShellProvider, wanted: string | undefined): readonly string[] {
  const model = wanted === undefined || NO_MODEL.has(wanted) ? settings.model : wanted;
  if (model === undefined) return [];
  const toArgs = settings.modelFlag === undefined ? driver.modelArgs : flagged(settings.modelFlag);
  if (toArgs) return toArgs(model);
  const message = `${name} cannot be told a model: leave it out, or set llm.shell_providers.${name}.model_flag`;
  throw llmError('model', message, { shell_provider: name, model });
}

function checkSize({ name, driver, settings }: ShellProvider, prompt: string): void {
  const own = settings.maxPromptBytes;
  const limit: PromptLimit = own === undefined ? driver.promptLimit : { max: own, unit: 'bytes' };
  const size = limit.unit === 'bytes' ? byteLength(prompt) : Array.from(prompt).length;
  if (size <= limit.max) return;
  const message = `the prompt has ${size} ${limit.unit}; ${name} takes at most ${limit.max}`;
  throw llmError('prompt_too_large', message, { shell_provider: name, size, max: limit.max, unit: limit.unit });
}

const byteLength = (text: string): number => Buffer.byteLength(text);

/** @throws AdapterError INVALID_REQUEST when there is nothing to be answered */
export function assertQuestion(messages: readonly LlmMessage[]): void {
  if (messages.some(({ role, content }) => role !== 'system' && content.trim() !== '')) return;
  const message = 'messages: there is no message of the role user or assistant with a content';
  throw new AdapterError('INVALID_REQUEST', message, { details: { field: 'messages' } });
}
