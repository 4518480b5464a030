import { REAL_TOOLS } from '../real-clis/tools.js';

/** How an agent is run without a terminal; it reads its task from standard input. */
interface Launch {
  readonly title: string;
  readonly args: readonly string[];
  /** Whether the server learns over HTTP which directory the agent works in. */
  readonly sharesDirectoryOverHttp: boolean;
  /** Keeps it from updating itself, from reporting home, and from asking whether the directory is trusted. */
  readonly env: Readonly<Record<string, string>>;
}

const LAUNCHES: Readonly<Record<(typeof REAL_TOOLS)[number]['name'], Launch>> = {
  claude: {
    title: 'Claude Code',
    args: ['-p'],
    // It speaks revision 2026-07-28, in which the server cannot ask a client for its roots.
    sharesDirectoryOverHttp: false,
    env: { DISABLE_AUTOUPDATER: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
  },
  codex: {
    title: 'Codex',
    args: ['exec', '--json', '--skip-git-repo-check', '-m', 'fake-ok', '-'],
    sharesDirectoryOverHttp: false,
    env: {},
  },
  gemini: {
    title: 'Gemini CLI',
    args: ['-m', 'fake-ok'],
    sharesDirectoryOverHttp: true,
    env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
  },
  qwen: { title: 'Qwen Code', args: [], sharesDirectoryOverHttp: true, env: {} },
  opencode: {
    title: 'opencode',
    args: ['run', '--title', 'test'],
    sharesDirectoryOverHttp: true,
    env: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1' },
  },
};

/** The agents that can be installed from npm, in the versions of the tests of the drivers. */
export const AGENTS = REAL_TOOLS.map((tool) => ({ ...tool, ...LAUNCHES[tool.name] }));

/** One of them. */
export type Agent = (typeof AGENTS)[number];

/** Ways in which an agent reaches the MCP server. */
export const TRANSPORTS = ['stdio', 'HTTP'] as const;

/** One of them. */
export type Transport = (typeof TRANSPORTS)[number];

/** @throws Error when there is none of that name */
export function agentOf(name: Agent['name']): Agent {
  const agent = AGENTS.find((candidate) => candidate.name === name);
  if (agent === undefined) throw new Error(`no agent ${name}`);
  return agent;
}
