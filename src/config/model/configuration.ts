import type { Limits } from '../../core/limits/limits.js';
import type { ConfirmationMode } from '../../core/confirmation/modes.js';
import type { LlmProviderName, LlmSettings } from '../../core/llm/settings.js';
import type { CommandClass } from '../../core/policy/model/classes.js';
import type { ClassActions, PresetName } from '../../core/policy/decision/presets.js';
import type { TestedRule } from '../../core/policy/decision/rule-tests.js';
import type { SandboxProfile } from '../../core/sandbox/profiles.js';
import type { Secret } from '../../core/secret.js';
import type { LogFormat } from '../sections/log-format.js';
import type { LIMIT_MECHANISMS } from '../sections/adapter.js';
import type { AUTH_MODES } from '../sections/auth.js';
import type { LOG_LEVELS } from '../sections/logging.js';

/** One of Python's level names. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Shells, commands and what is kept of their output. Sizes of output are in characters (code points). */
export interface AdapterConfiguration {
  readonly adapterType: 'shell';
  /** Absolute. Not created yet: see `ensureWorkspace`. */
  readonly workspaceDirectory: string;
  /** `bash`, `zsh`, `sh`, or an absolute path. */
  readonly shell: string;
  readonly connectionCheckIntervalMs: number;
  readonly sessionMaxLifetimeMs: number;
  readonly sessionIdleTimeoutMs: number;
  readonly reconnectGraceMs: number;
  /** The longest a command may run, and its default time-out. */
  readonly commandMaxLifetimeMs: number;
  readonly killGraceMs: number;
  readonly wedgeTimeoutMs: number;
  /** `beginOutputSize + endOutputSize <= maxOutputSize` holds. */
  readonly maxOutputSize: number;
  readonly beginOutputSize: number;
  readonly endOutputSize: number;
  /** Output on disk, per session. */
  readonly spoolMaxBytes: number;
  /** Latest output in memory, per session. */
  readonly replayMaxBytes: number;
  /** Of all that a session or a one-shot runs, together. */
  readonly resourceLimits: Limits;
  /** What `cpu_percent` is averaged over. */
  readonly cpuWindowMs: number;
  /** Free space below which commands that write are ended, in MB; undefined for no such floor. */
  readonly diskFreeMbFloor: number | undefined;
  readonly limitMechanism: (typeof LIMIT_MECHANISMS)[number];
  readonly maxSessions: number;
  /** Commands that may wait in a session. */
  readonly queueLimit: number;
  /** Shells kept started; 0 for none. */
  readonly prewarm: { readonly sessions: number; readonly oneShots: number };
  /** Absolute. Not created yet. */
  readonly stateDirectory: string;
}

/** What a checkpoint of the workspace may have, and how much of them is kept. */
export interface CheckpointsConfiguration {
  /** Files and directories. */
  readonly maxFiles: number;
  readonly maxFileBytes: number;
  /** Of all files together. */
  readonly maxWorkspaceBytes: number;
  readonly maxCount: number;
  /** Of all checkpoints together, on the disk. */
  readonly maxStoreBytes: number;
}

/** What is logged, and where. */
export interface LoggingConfiguration {
  /** The least grave level that is written. */
  readonly level: LogLevel;
  /** Absolute. */
  readonly filePath: string;
  readonly format: LogFormat;
  /** A log file that would grow beyond this is rotated. */
  readonly maxFileBytes: number;
  /** Rotated files that are kept; with 0 a full file is begun anew. */
  readonly backupCount: number;
}

/** Where the daemon listens, and to whom. */
export interface SocketioConfiguration {
  /** An IP address, or `localhost`. */
  readonly host: string;
  /** Whether only this machine reaches that. */
  readonly isLoopback: boolean;
  /** 0 for any free port. */
  readonly port: number;
  /** Absolute path of a socket to listen on beside the port; undefined for none. */
  readonly unixSocket: string | undefined;
  /** `*` for any origin. */
  readonly corsAllowedOrigins: '*' | readonly string[];
  /** Names by which clients may call the daemon, beside those of the loopback; lower case. */
  readonly allowedHosts: readonly string[];
  /** Absolute paths; undefined for plain HTTP. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  readonly maxMessageBytes: number;
  readonly maxConnections: number;
  readonly pingIntervalMs: number;
  readonly pingTimeoutMs: number;
}

/** How much of the machine commands may reach. */
export interface SandboxConfiguration {
  readonly profile: SandboxProfile;
  /** Whether the daemon refuses to start when that does not work. */
  readonly isRequired: boolean;
  /** Whether the profile `workspace` shares the machine's network. */
  readonly network: boolean;
  /** Relative to the workspace; a directory ends in `/`. */
  readonly protectedPaths: readonly string[];
}

/** What the port answers beside Socket.IO. */
interface HttpConfiguration {
  /** Whether figures are kept, and shown at `/metrics`. */
  readonly metrics: boolean;
  /** Whether command-line tools answer at `/v1/chat/completions`. */
  readonly openai: boolean;
  /** Whether the tools for models are at `/mcp`. */
  readonly mcp: boolean;
}

/** The record of who has done what. */
interface AuditConfiguration {
  readonly enabled: boolean;
  /** Absolute. */
  readonly filePath: string;
  /** Whether the configuration names the file: no other will do then. */
  readonly isFileChosen: boolean;
  /** A file that would grow beyond this is rotated. */
  readonly maxFileBytes: number;
  /** Rotated files that are kept. */
  readonly backups: number;
}

/** Who may connect. */
interface AuthConfiguration {
  readonly mode: (typeof AUTH_MODES)[number];
  /** Of each token. */
  readonly requestsPerSecond: number;
  /** Open at a time. */
  readonly maxSessionsPerToken: number;
}

/** The model that reviews commands. */
interface ReviewerConfiguration {
  /** `openai` is asked at `baseUrl`; the others are those of `llm`. */
  readonly provider: LlmProviderName;
  /** The tool that is asked with the provider `shell`; undefined for the first that answers. */
  readonly shellProvider: string | undefined;
  readonly baseUrl: string;
  /** There wherever a model behind `baseUrl` confirms commands. */
  readonly model: string | undefined;
  readonly apiKey: Secret | undefined;
  readonly timeoutMs: number;
}

/** Which commands may run, and who is asked first. */
export interface ConfirmationConfiguration {
  /** `off`: every command runs, and `check_command` alone says what the policy would. */
  readonly mode: ConfirmationMode | 'off';
  readonly preset: PresetName;
  /** What becomes of each class: of the preset, and what the file says of single classes. */
  readonly actions: ClassActions;
  /** Who confirms the commands of a class, where that is not `mode`. */
  readonly modes: Readonly<Partial<Record<CommandClass, ConfirmationMode>>>;
  readonly rules: readonly TestedRule[];
  readonly expiresMs: number;
  /** Whether the workspace is saved before a confirmed command that may destroy. */
  readonly checkpoint: boolean;
  readonly reviewer: ReviewerConfiguration;
}

/** All that can be configured: checked, with defaults, in the units that the names say, with absolute paths. */
export interface Configuration {
  /** The file it came from; undefined when there was none. */
  readonly file: string | undefined;
  readonly adapter: AdapterConfiguration;
  readonly checkpoints: CheckpointsConfiguration;
  readonly logging: LoggingConfiguration;
  readonly socketio: SocketioConfiguration;
  readonly auth: AuthConfiguration;
  readonly confirmation: ConfirmationConfiguration;
  readonly sandbox: SandboxConfiguration;
  /** Who answers calls of LLMs. */
  readonly llm: LlmSettings;
  readonly audit: AuditConfiguration;
  /** What is masked wherever it would show. Not to be printed. */
  readonly secrets: readonly string[];
  readonly http: HttpConfiguration;
  /** What every shell starts with, and nothing else of the daemon's environment. */
  readonly childEnvironment: Readonly<Record<string, string>>;
}
