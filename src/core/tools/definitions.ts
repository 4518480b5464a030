import { argumentSchema, type ObjectSchema } from './schema.js';
import { TOOLS } from './tools.js';

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

/** Every tool for the `tools` of a chat completion. */
export const openAiTools = (): readonly OpenAiTool[] =>
  TOOLS.map((tool) => ({
    type: 'function',
    function: { name: tool.name, description: tool.description, parameters: argumentSchema(tool) },
  }));

/** Every tool for the `tools` of an Anthropic message. */
export const anthropicTools = (): readonly AnthropicTool[] =>
  TOOLS.map((tool) => ({ name: tool.name, description: tool.description, input_schema: argumentSchema(tool) }));

/** The forms that definitions come in. */
export const TOOL_FORMATS = ['openai', 'anthropic'] as const;

/** One of them. */
export type ToolFormat = (typeof TOOL_FORMATS)[number];

/** The definitions in a form. */
export const toolDefinitions = (format: ToolFormat): readonly (OpenAiTool | AnthropicTool)[] =>
  format === 'openai' ? openAiTools() : anthropicTools();
