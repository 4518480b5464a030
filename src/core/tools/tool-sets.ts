/**
 * The names of the selections of tools. `run` costs a model the fewest tokens; `core` has everything that running commands
 * needs, `files` also reads and writes files, `terminal` also waits for ports and outputs, and drives full-screen programs.
 */
export const TOOL_SET_NAMES = ['core', 'run', 'files', 'terminal', 'all'] as const;

/** Name of a selection of tools. */
export type ToolSet = (typeof TOOL_SET_NAMES)[number];

export const isToolSet = (value: unknown): value is ToolSet => TOOL_SET_NAMES.includes(value as ToolSet);

export const TOOL_FORMATS = ['openai', 'anthropic'] as const;

export type ToolFormat = (typeof TOOL_FORMATS)[number];

export const isToolFormat = (value: unknown): value is ToolFormat => TOOL_FORMATS.includes(value as ToolFormat);
