import type { AccessMode } from './access-mode.js';
import type { Limits } from '../limits/limits.js';
import type { ModelRegistry } from './models.js';
import type { Secret } from '../secret.js';
import type { Variables } from '../variables.js';

/** Services that are spoken to over HTTP, all in OpenAI's protocol. */
export const HTTP_PROVIDERS = ['ollama', 'azure', 'openai', 'litellm'] as const;
export type HttpProviderName = (typeof HTTP_PROVIDERS)[number];

/** What a client may ask for. */
export const LLM_PROVIDERS = ['auto', 'shell', ...HTTP_PROVIDERS] as const;
export type LlmProviderName = (typeof LLM_PROVIDERS)[number];

/** Command-line tools that have a driver, in the order in which they are tried unless the configuration says another. */
export const DRIVER_NAMES = ['claude', 'gemini', 'cursor-agent', 'opencode', 'codex', 'qwen'] as const;
export type DriverName = (typeof DRIVER_NAMES)[number];

/** How the output of a command-line tool is read. `auto`: as its driver knows it, or as text. */
export const OUTPUT_MODES = ['auto', 'text', 'last_block'] as const;
export type OutputMode = (typeof OUTPUT_MODES)[number];

/** How several messages become one prompt; see `composePrompt`. */
export const PROMPT_STYLES = ['plain', 'labelled'] as const;
export type PromptStyle = (typeof PROMPT_STYLES)[number];

/** A command-line tool as it is configured; what is undefined is the driver's. */
export interface ShellProviderSettings {
  /** Name of a driver; undefined for the driver of the provider's own name, if there is one. */
  readonly driver: DriverName | undefined;
  /** Name on PATH, or a path. */
  readonly command: string | undefined;
  readonly args: readonly string[] | undefined;
  /** Flag in front of the prompt, or `positional`; undefined for standard input. */
  readonly promptFlag: string | undefined;
  readonly modelFlag: string | undefined;
  readonly systemFlag: string | undefined;
  /** `file`: the prompt is in a file, whose path stands for `{input_file}` in the arguments. */
  readonly stdinMode: 'pipe' | 'file';
  readonly model: string | undefined;
  readonly timeoutMs: number | undefined;
  /** Without output for so long, a run is ended. */
  readonly idleTimeoutMs: number | undefined;
  readonly output: OutputMode;
  readonly promptStyle: PromptStyle | undefined;
  readonly maxPromptBytes: number | undefined;
  /** Undefined: `read` with the driver's arguments, and whatever configured arguments ask for. */
  readonly access: AccessMode | undefined;
  /** Arguments that grant an access mode, instead of those of the driver. */
  readonly accessArgs: Readonly<Partial<Record<AccessMode, readonly string[] | undefined>>>;
  /** Runs at a time. */
  readonly concurrency: number | undefined;
  readonly env: Readonly<Record<string, Secret>>;
}

/** A service over HTTP as it is configured. */
export interface HttpProviderSettings {
  /** Undefined for the public one, where there is one. */
  readonly baseUrl: string | undefined;
  readonly apiKey: Secret | undefined;
  /** The model of requests that name none; with Azure, the deployment. */
  readonly model: string | undefined;
  readonly maxRetries: number;
  /** Azure's. */
  readonly apiVersion: string | undefined;
}

/** All that calls of LLMs go by. */
export interface LlmSettings {
  readonly provider: LlmProviderName;
  /** Shell providers in the order in which they are tried when none is named. */
  readonly fallback: readonly string[];
  /** No command-line tool is run. */
  readonly skipCli: boolean;
  /** Of calls that ask for none, to a provider that has none. */
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  /** Runs of one tool at a time, and calls that may wait for it. */
  readonly concurrency: number;
  readonly queueLimit: number;
  /** How soon after a failure the same request to the HTTP endpoint is a repetition, which runs nothing; 0 for never. */
  readonly repeatWindowMs: number;
  /** Of the processes of each run together. */
  readonly limits: Limits;
  readonly shellProviders: Readonly<Record<string, ShellProviderSettings>>;
  readonly http: Readonly<Record<HttpProviderName, HttpProviderSettings>>;
  /** Path of the file with the models of the HTTP endpoint; undefined for none. */
  readonly modelsFile: string | undefined;
  /** What is in it. */
  readonly models: ModelRegistry | undefined;
  /** Where worktrees are made: absolute. */
  readonly worktreeDirectory: string;
  /** The daemon's environment, of which each tool gets its own variables. */
  readonly variables: Variables;
}
