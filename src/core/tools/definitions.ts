import type { ObjectSchema } from './schema.js';
import type { ToolFormat, ToolSet } from './tool-sets.js';
import { TOOL_SETS, WORKSPACE } from './tools.js';

/** A tool in the format of OpenAI's chat completions. */
export interface OpenAiTool {
  readonly type: 'function';
  readonly function: { readonly name: string; readonly description: string; readonly parameters: ObjectSchema };
}

/** A tool in the format of Anthropic's messages. */
export interface AnthropicTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: ObjectSchema;
}

/**
 * The tools for the `tools` field of a chat completion.
 * @param set selection of tools; @default 'all'
 */
export const openAiTools = (set: ToolSet = 'all'): readonly OpenAiTool[] =>
  TOOL_SETS[set].map((tool) => ({
    type: 'function',
    function: { name: tool.name, description: tool.describe(WORKSPACE), parameters: tool.schema },
  }));

/**
 * The tools for the `tools` field of an Anthropic message.
 * @param set selection of tools; @default 'all'
 */
export const anthropicTools = (set: ToolSet = 'all'): readonly AnthropicTool[] =>
  TOOL_SETS[set].map((tool) => ({
    name: tool.name,
    description: tool.describe(WORKSPACE),
    input_schema: tool.schema,
  }));

/** The definitions of a selection of tools in one format. */
export const toolDefinitions = (format: ToolFormat, set: ToolSet = 'all'): readonly (OpenAiTool | AnthropicTool)[] =>
  format === 'openai' ? openAiTools(set) : anthropicTools(set);
