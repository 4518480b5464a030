import type { ProgramExamples } from '../../family/program-family.js';

/** Commands of this family, by class. */
export const EXAMPLES: ProgramExamples = {
  read: ['claude mcp list', 'codex help'],
  execute: ["codex exec 'explain this'"],
  obfuscated: ['gemini -y'],
  persistence: ['claude mcp add x'],
};
