import type { CommandAnalysis } from '../../subject/command-analysis.js';
import { each, type ProgramSpec, type ProgramTable } from '../../subject/program-spec.js';

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
export const SPECS: ProgramTable = each(
  'claude codex gemini qwen opencode cursor-agent copilot amp crush goose aider droid cline kilocode auggie kiro-cli q',
  agent,
);
