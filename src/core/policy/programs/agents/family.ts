import type { ProgramFamily } from '../../family/program-family.js';
import { EXAMPLES } from './examples.js';
import { SPECS } from './table.js';

/** Agents on the command line, and the files from which agents take instructions, tools and hooks. */
export const AGENTS: ProgramFamily = {
  name: 'agents',
  programs: SPECS,
  startupPaths: [
    ...[
      'CLAUDE.md',
      'CLAUDE.local.md',
      'AGENTS.md',
      'AGENT.md',
      'AGENTS.override.md',
      'GEMINI.md',
      'QWEN.md',
      'CRUSH.md',
    ],
    ...['.cursorrules', '.windsurfrules', '.clinerules', '.roorules', '.roomodes', '.goosehints', '.aider.conf.yml'],
    ...['.mcp.json', 'mcp.json', 'opencode.json', 'opencode.jsonc', 'crush.json', '.crush.json', '~/.claude.json'],
    ...['.claude', '.cursor', '.gemini', '.codex', '.qwen', '.opencode', '.windsurf', '.continue', '.roo', '.kilocode']
      .concat([
        '.cline',
        '.clinerules',
        '.kiro',
        '.amazonq',
        '.junie',
        '.augment',
        '.trae',
        '.agents',
        '.agent',
        '.goose',
        '.amp',
        '.zencoder',
        '.factory',
      ])
      .map((name) => `/**/${name}/**`),
    ...['copilot-instructions.md', 'instructions/**', 'agents/**', 'prompts/**', 'hooks/**'].map(
      (path) => `/**/.github/${path}`,
    ),
    ...['~/.config/opencode/**', '~/.config/crush/**', '~/.config/goose/**', '~/.config/amp/**'],
  ],
  examples: EXAMPLES,
};
