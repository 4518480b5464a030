import type { AccessMode } from './access-mode.js';

/** How a repository's instructions for agents get to the tool. `auto`: by the tool itself, if it reads AGENTS.md. */
export const AGENT_FILE_MODES = ['prepend', 'native', 'auto'] as const;
type AgentFileMode = (typeof AGENT_FILE_MODES)[number];

/**
 * What of an output is the answer. `structured`: what the tool marks as it. `last_block`: of plain text the last paragraph.
 * `full`: all of it. `auto`: structured where it is, else the last block; streamed, all of it.
 */
export const NORMALIZERS = ['auto', 'structured', 'last_block', 'full'] as const;
type Normalizer = (typeof NORMALIZERS)[number];

/** A model of the endpoint: a tool in a repository. */
export interface ModelSettings {
  /** Name of a shell provider. */
  readonly driver: string;
  /** Where the tool runs: absolute. */
  readonly repoPath: string;
  /** Instructions for agents, below `repoPath`; it need not exist. */
  readonly agentFile: string;
  readonly agentFileMode: AgentFileMode;
  /** Whether each run gets a worktree of its own, unless the request says otherwise. */
  readonly worktree: boolean;
  /** The model that the tool is told; undefined for its own choice. */
  readonly model: string | undefined;
  /** What the tool may do; undefined for what its shell provider says. */
  readonly access: AccessMode | undefined;
  /** Undefined for that of the shell provider. */
  readonly timeoutMs: number | undefined;
  readonly normalizer: Normalizer;
}

/** Models by their names. */
export type ModelRegistry = Readonly<Record<string, ModelSettings>>;
