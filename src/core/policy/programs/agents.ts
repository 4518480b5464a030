import type { ProgramExamples, ProgramFamily } from '../program-family.js';
import type { CommandAnalysis } from '../subject/command-analysis.js';
import { each, type ProgramSpec, type ProgramTable } from '../subject/program-spec.js';

/** Commands of this family, by class. */
const EXAMPLES: ProgramExamples = {
  read: ['claude mcp list', 'codex help'],
  execute: ["codex exec 'explain this'"],
  obfuscated: ['gemini -y'],
  persistence: ['claude mcp add x'],
};

const text = { operands: 'text' } as const;

/** Options with which a model runs commands without being asked, wherever they stand. */
const UNASKED =
  /^(?:--(?:allow-)?dangerously-.*|--full-auto|--yolo|-y|--yes|--yes-always|--force|-f|--allow-all(?:-.*)?|--auto-approve|--trust-all-tools)$/;
/** Options that say when a model has to ask, with their values. */
const ASKING = /^--(?:permission-mode|approval-mode|ask-for-approval)(?:=(.*))?$/;
const CAUTIOUS = /^(?:default|plan|ask|auto_edit|acceptEdits|on-request|untrusted)$/;

function judgeAgent(subject: CommandAnalysis): void {
  const { args, program } = subject;
  const isBold = args.some(({ shape }, index) => {
    const asking = ASKING.exec(shape);
    return UNASKED.test(shape) || (asking && !CAUTIOUS.test(asking[1] ?? args[index + 1]?.value ?? ''));
  });
  if (isBold) subject.add('obfuscated', `${program ?? 'it'} lets a model run commands without being asked`);
}

const show: ProgramSpec = { class: 'read', ...text };

/** A subcommand that lists, adds and removes things. */
const managed: ProgramSpec = {
  class: 'persistence',
  reason: 'changes what an agent runs later',
  ...text,
  subcommands: each('list ls get show help', show),
};

const agent: ProgramSpec = {
  class: 'execute',
  ...text,
  judge: judgeAgent,
  subcommands: {
    ...each('mcp plugin plugins extensions extension config', managed),
    ...each('login logout auth setup-token', { class: 'exfiltration', reason: 'handles credentials', ...text }),
    ...each('install update upgrade', { class: 'network', ...text }),
    ...each('help doctor', show),
  },
};

/** Programs in which a model decides what runs. */
const SPECS: ProgramTable = each(
  'claude codex gemini qwen opencode cursor-agent copilot amp crush goose aider droid cline kilocode auggie kiro-cli q',
  agent,
);

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
