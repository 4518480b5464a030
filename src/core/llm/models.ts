import type { AccessMode } from './access-mode.js';

/**
 * Modes of passing a repository's agent instructions to the tool. `auto`: by the tool itself, if it reads AGENTS.md.
 */
export const AGENT_FILE_MODES = ['prepend', 'native', 'auto'] as const;
type AgentFileMode = (typeof AGENT_FILE_MODES)[number];

/**
 * Modes of extracting the answer from an output. `structured`: the part that the tool marks. `last_block`: the last
 * paragraph of plain text. `full`: all of it. `auto`: structured where available, else the last block; when streamed,
 * all of it.
 */
export const NORMALIZERS = ['auto', 'structured', 'last_block', 'full'] as const;
type Normalizer = (typeof NORMALIZERS)[number];

/** A model of the endpoint: a tool in a repository. */
export interface ModelSettings {
  /** Name of a shell provider. */
  readonly driver: string;
  /** Absolute working directory of the tool. */
  readonly repoPath: string;
  /** File with agent instructions, relative to `repoPath`; it need not exist. */
  readonly agentFile: string;
  readonly agentFileMode: AgentFileMode;
  /** Whether each run gets a separate worktree, unless the request specifies otherwise. */
  readonly worktree: boolean;
  /** Model that is passed to the tool; undefined for the tool's own choice. */
  readonly model: string | undefined;
  /** Access mode of the tool; undefined for the setting of its shell provider. */
  readonly access: AccessMode | undefined;
  /** Undefined for the time-out of the shell provider. */
  readonly timeoutMs: number | undefined;
  readonly normalizer: Normalizer;
}

/** Models by name. */
export type ModelRegistry = Readonly<Record<string, ModelSettings>>;
