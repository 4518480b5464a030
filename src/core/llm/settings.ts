import type { Limits } from '../limits.js';
import type { Secret } from '../secret.js';
import type { Variables } from '../variables.js';

/**
 * Access modes of a tool in its working directory. `read`: read files. `write`: also change files in its directory,
 * without asking. `full`: also run any command, use the network, and change files elsewhere, as far as the daemon's
 * user may.
 */
export const ACCESS_MODES = ['read', 'write', 'full'] as const;

export type AccessMode = (typeof ACCESS_MODES)[number];

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
  readonly model?: string | undefined;
  /** Access mode of the tool; undefined for the setting of its shell provider. */
  readonly access?: AccessMode | undefined;
  /** Undefined for the time-out of the shell provider. */
  readonly timeoutMs?: number | undefined;
  readonly normalizer: Normalizer;
}

export type ModelRegistry = Readonly<Record<string, ModelSettings>>;

/** Services that are called over HTTP, all with OpenAI's protocol. */
export const HTTP_PROVIDERS = ['ollama', 'azure', 'openai', 'litellm'] as const;

export type HttpProviderName = (typeof HTTP_PROVIDERS)[number];

/** Providers that a client may ask for. */
export const LLM_PROVIDERS = ['auto', 'shell', ...HTTP_PROVIDERS] as const;

export type LlmProviderName = (typeof LLM_PROVIDERS)[number];

/** Command-line tools that have a driver, in the default order of attempts. */
export const DRIVER_NAMES = ['claude', 'gemini', 'cursor-agent', 'opencode', 'codex', 'qwen'] as const;

export type DriverName = (typeof DRIVER_NAMES)[number];

/** Modes of reading the output of a command-line tool. `auto`: in the format that its driver knows, or as text. */
export const OUTPUT_MODES = ['auto', 'text', 'last_block'] as const;

export type OutputMode = (typeof OUTPUT_MODES)[number];

/** Styles of combining several messages into one prompt; see `composePrompt`. */
export const PROMPT_STYLES = ['plain', 'labelled'] as const;

export type PromptStyle = (typeof PROMPT_STYLES)[number];

/** Configuration of a command-line tool; undefined fields take the driver's values. */
export interface ShellProviderSettings {
  /** Name of a driver; undefined for the driver with the provider's own name, if it exists. */
  readonly driver?: DriverName | undefined;
  /** Name on PATH, or a path. */
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  /** Flag before the prompt, or `positional`; undefined for standard input. */
  readonly promptFlag?: string | undefined;
  readonly modelFlag?: string | undefined;
  readonly systemFlag?: string | undefined;
  /** `file`: the prompt is written to a file, whose path replaces `{input_file}` in the arguments. */
  readonly stdinMode: 'pipe' | 'file';
  readonly model?: string | undefined;
  readonly timeoutMs?: number | undefined;
  /** A run that prints nothing for this time is ended. */
  readonly idleTimeoutMs?: number | undefined;
  readonly output: OutputMode;
  readonly promptStyle?: PromptStyle | undefined;
  readonly maxPromptBytes?: number | undefined;
  /** Undefined: `read` with the driver's arguments, or whatever the configured arguments select. */
  readonly access?: AccessMode | undefined;
  /** Arguments that grant an access mode, replacing those of the driver. */
  readonly accessArgs: Readonly<Partial<Record<AccessMode, readonly string[] | undefined>>>;
  readonly concurrency?: number | undefined;
  readonly env: Readonly<Record<string, Secret>>;
}

export interface HttpProviderSettings {
  /** Undefined for the public service, if one exists. */
  readonly baseUrl: string | undefined;
  readonly apiKey?: Secret | undefined;
  /** Model of requests that name none; with Azure, the deployment. */
  readonly model: string | undefined;
  readonly maxRetries: number;
  /** For Azure only. */
  readonly apiVersion?: string | undefined;
}

/** Settings of LLM calls; those of each service are under its name. */
export interface LlmSettings extends Readonly<Record<HttpProviderName, HttpProviderSettings>> {
  readonly provider: LlmProviderName;
  /** Shell providers in the order of attempts when a request names none. */
  readonly fallback: readonly string[];
  /** Disables command-line tools. */
  readonly skipCli: boolean;
  /** Time-out of calls that specify none, to a provider without one. */
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  /** Concurrent runs of one tool, and calls that may wait for it. */
  readonly concurrency: number;
  readonly queueLimit: number;
  /**
   * Time after a failure within which the same request to the HTTP endpoint counts as a repetition, which runs nothing;
   * 0 for never.
   */
  readonly repeatWindowMs: number;
  /** Limits of all processes of one run together. */
  readonly limits: Limits;
  readonly shellProviders: Readonly<Record<string, ShellProviderSettings>>;
  /** Path of the file with the models of the HTTP endpoint; undefined for none. */
  readonly modelsFile: string | undefined;
  /** Content of that file. */
  readonly models: ModelRegistry | undefined;
  /** Absolute directory in which worktrees are created. */
  readonly worktreeDirectory: string;
  /** The daemon's environment; each tool gets only its own variables from it. */
  readonly variables: Variables;
}

/** The settings of a shell provider that determine how an access mode is granted. */
type AccessSettings = Pick<ShellProviderSettings, 'driver' | 'accessArgs'>;

/**
 * The reason why an access mode cannot be granted to a shell provider; undefined when it can. Every driver supports all
 * modes; other tools need a setting in the configuration.
 * @param settings undefined for a provider without an entry in the configuration
 */
export function accessProblem(
  name: string,
  settings: AccessSettings | undefined,
  mode: AccessMode,
): string | undefined {
  const driver = settings?.driver ?? name;
  if (settings?.accessArgs[mode] !== undefined) return undefined;
  if (DRIVER_NAMES.some((known) => known === driver)) return undefined;
  const example = `access_args: { ${mode}: ["--some-option"] }`;
  return `${mode} cannot be granted to ${name}: no driver knows its options; write them into llm.shell_providers.${name}, for example ${example}`;
}
