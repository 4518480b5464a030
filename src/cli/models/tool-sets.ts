import type { ToolSet } from '../../core/tools/tools.js';

/** The selections of tools. Listed here: the tools themselves are loaded only when they are used. */
export const TOOL_SETS = Object.keys({
  core: true,
  run: true,
  files: true,
  terminal: true,
  all: true,
} satisfies Record<ToolSet, true>);
