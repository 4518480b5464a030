import type { ObjectSchema } from './schema.js';
import { TOOL_SETS, type ToolSet, WORKSPACE } from './tools.js';

/** A tool as OpenAI's chat completions take it. */
export interface OpenAiTool {
  readonly type: 'function';
  readonly function: { readonly name: string; readonly description: string; readonly parameters: ObjectSchema };
}

/** A tool as Anthropic's messages take it. */
export interface AnthropicTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: ObjectSchema;
}

/**
 * The tools for the `tools` of a chat completion.
 * @param set which of them; @default 'all'
 */
export const openAiTools = (set: ToolSet = 'all'): readonly OpenAiTool[] =>
  TOOL_SETS[set].map((tool) => ({
    type: 'function',
    function: { name: tool.name, description: tool.describe(WORKSPACE), parameters: tool.schema },
  }));

/**
 * The tools for the `tools` of an Anthropic message.
 * @param set which of them; @default 'all'
 */
export const anthropicTools = (set: ToolSet = 'all'): readonly AnthropicTool[] =>
  TOOL_SETS[set].map((tool) => ({
    name: tool.name,
    description: tool.describe(WORKSPACE),
    input_schema: tool.schema,
  }));

/** The forms that definitions come in. */
export const TOOL_FORMATS = ['openai', 'anthropic'] as const;

/** One of them. */
export type ToolFormat = (typeof TOOL_FORMATS)[number];

/** The definitions of a selection of tools, in a form. */
export const toolDefinitions = (format: ToolFormat, set: ToolSet = 'all'): readonly (OpenAiTool | AnthropicTool)[] =>
  format === 'openai' ? openAiTools(set) : anthropicTools(set);
