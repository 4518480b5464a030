import { AdapterError } from '../../core/errors.js';
import { llmError } from '../../core/llm/failure.js';
import { composePrompt, type LlmMessage } from '../../core/llm/messages.js';
import type { ShellProviderSettings } from '../../core/llm/settings.js';
import { type AccessGrant, type CliDriver, flagged, type PromptLimit } from './drivers/driver.js';
import type { LlmQuestion } from './providers.js';

/**
 * The arguments and variables that grant a tool the access of the question or the configuration. Configured arguments
 * replace the driver's; nothing is added to them unless an access mode is set.
 */
export function accessGrant(
  { driver, settings }: { readonly driver: CliDriver; readonly settings: ShellProviderSettings },
  { access, isReadOnly }: Pick<LlmQuestion, 'access' | 'isReadOnly'>,
): AccessGrant {
  const wanted = access ?? settings.access;
  const mode = isReadOnly === true ? 'read' : (wanted ?? 'read');
  const { args, env = {} } = driver.access?.[mode] ?? NO_GRANT;
  const isAsked = wanted !== undefined || settings.args === undefined;
  return { args: settings.accessArgs[mode] ?? (isAsked ? args : []), env };
}

/** The grant of a tool without an option for access. */
const NO_GRANT: AccessGrant = { args: [] };

/** Linux limits one argument to 131 071 bytes; larger prompts are passed differently. */
const MAX_ARGUMENT_BYTES = 100_000;

/** Placeholder in arguments for the path of the file with the prompt. */
export const INPUT_FILE = '{input_file}';

/** Model names that mean the tool's default. */
const NO_MODEL: ReadonlySet<string> = new Set(['', 'default', 'unknown']);

export interface ShellProvider {
  readonly name: string;
  readonly driver: CliDriver;
  readonly settings: ShellProviderSettings;
}

export interface Invocation {
  /** With `{input_file}` as the placeholder for the path of the file. */
  readonly args: readonly string[];
  /** Undefined for none. */
  readonly stdin: string | undefined;
  /** Content of the file; undefined for none. */
  readonly inputFile: string | undefined;
  /** The JSON Schema, for arguments with `{schema_file}`; undefined for none. */
  readonly schemaFile?: string | undefined;
}

type InvocationQuestion = Pick<LlmQuestion, 'messages' | 'model' | 'hasAgentFile' | 'access' | 'isReadOnly' | 'format'>;

/**
 * Builds the invocation of a tool.
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
    ...(system === undefined || !systemArgs ? [] : systemArgs(system)),
    ...(schema === undefined ? [] : (driver.structured?.args(schema) ?? [])),
    ...(question.hasAgentFile === true ? agentFileArgs(provider) : []),
  ];
  return { ...placePrompt(provider, args, prompt), schemaFile: schema };
}

/** Configured arguments may be for another version of the tool, so nothing is added to them. */
const agentFileArgs = ({ driver, settings }: ShellProvider): readonly string[] =>
  settings.args === undefined ? (driver.agentFileArgs ?? []) : [];

/** Passes the prompt as a file, as an argument, or on standard input. */
function placePrompt({ driver, settings }: ShellProvider, args: readonly string[], prompt: string): Invocation {
  if (settings.stdinMode === 'file') return { args, stdin: undefined, inputFile: prompt };
  const flag = settings.promptFlag ?? (driver.promptBy === 'argument' ? 'positional' : undefined);
  // For tools that do not read standard input, the driver's limit has bounded the size.
  if (flag === undefined || byteLength(prompt) > MAX_ARGUMENT_BYTES) {
    return { args, stdin: prompt, inputFile: undefined };
  }
  // A prompt with a leading dash would be parsed as an option.
  const argument = prompt.startsWith('-') ? ` ${prompt}` : prompt;
  return {
    args: [...args, ...(flag === 'positional' ? [] : [flag]), argument],
    stdin: undefined,
    inputFile: undefined,
  };
}

const argsFor = ({ args, largePrompt }: CliDriver, prompt: string): readonly string[] =>
  largePrompt && byteLength(prompt) > largePrompt.aboveBytes ? largePrompt.args : args;

/** A system prompt that is too long for an argument is added to the prompt. */
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

/**
 * Checks that a question has content to answer.
 * @throws AdapterError INVALID_REQUEST when it has none
 */
export function assertQuestion(messages: readonly LlmMessage[]): void {
  if (messages.some(({ role, content }) => role !== 'system' && content.trim() !== '')) return;
  const message = 'messages: there is no message of the role user or assistant with a content';
  throw new AdapterError('INVALID_REQUEST', message, { details: { field: 'messages' } });
}
