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

/** A level name of Python's logging. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Settings of shells, commands, and the output that is kept. Sizes of output are in characters (code points). */
export interface AdapterConfiguration {
  readonly adapterType: 'shell';
  /** Absolute path. Not created yet: see `ensureWorkspace`. */
  readonly workspaceDirectory: string;
  /** `bash`, `zsh`, `sh`, or an absolute path. */
  readonly shell: string;
  readonly connectionCheckIntervalMs: number;
  readonly sessionMaxLifetimeMs: number;
  readonly sessionIdleTimeoutMs: number;
  readonly reconnectGraceMs: number;
  /** Longest run time of a command, and its default time-out. */
  readonly commandMaxLifetimeMs: number;
  readonly killGraceMs: number;
  readonly wedgeTimeoutMs: number;
  /** Invariant: `beginOutputSize + endOutputSize <= maxOutputSize`. */
  readonly maxOutputSize: number;
  readonly beginOutputSize: number;
  readonly endOutputSize: number;
  /** Size of the spool on disk, per session. */
  readonly spoolMaxBytes: number;
  /** Size of the replay ring in memory, per session. */
  readonly replayMaxBytes: number;
  /** Limits on the sum of everything that a session or a one-shot runs. */
  readonly resourceLimits: Limits;
  /** Window over which `cpu_percent` is averaged. */
  readonly cpuWindowMs: number;
  /** Free disk space below which commands that write are ended, in MB; undefined for no floor. */
  readonly diskFreeMbFloor: number | undefined;
  readonly limitMechanism: (typeof LIMIT_MECHANISMS)[number];
  readonly maxSessions: number;
  /** Most commands that may wait in a session. */
  readonly queueLimit: number;
  /** Number of shells that are started ahead of need; 0 for none. */
  readonly prewarm: { readonly sessions: number; readonly oneShots: number };
  /** Absolute path. Not created yet. */
  readonly stateDirectory: string;
}

/** Limits on a checkpoint of the workspace, and on the checkpoints that are kept. */
export interface CheckpointsConfiguration {
  /** Most files and directories. */
  readonly maxFiles: number;
  readonly maxFileBytes: number;
  /** Total size of all files. */
  readonly maxWorkspaceBytes: number;
  readonly maxCount: number;
  /** Total size of all checkpoints on disk. */
  readonly maxStoreBytes: number;
}

/** Settings of the log. */
export interface LoggingConfiguration {
  /** The least severe level that is written. */
  readonly level: LogLevel;
  /** Absolute path. */
  readonly filePath: string;
  readonly format: LogFormat;
  /** Size limit of the log file: a line that would exceed it causes a rotation first. */
  readonly maxFileBytes: number;
  /** Number of rotated files that are kept; with 0 a full file is truncated. */
  readonly backupCount: number;
}

/** Settings of the port and the Unix socket, and the clients that may connect. */
export interface SocketioConfiguration {
  /** An IP address, or `localhost`. */
  readonly host: string;
  /** Whether the host is reachable from this machine only. */
  readonly isLoopback: boolean;
  /** 0 for any free port. */
  readonly port: number;
  /** Absolute path of an additional Unix socket; undefined for none. */
  readonly unixSocket: string | undefined;
  /** `*` for any origin. */
  readonly corsAllowedOrigins: '*' | readonly string[];
  /** Host names that clients may use besides those of the loopback; lower case. */
  readonly allowedHosts: readonly string[];
  /** Absolute paths; undefined for plain HTTP. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  readonly maxMessageBytes: number;
  readonly maxConnections: number;
  readonly pingIntervalMs: number;
  readonly pingTimeoutMs: number;
}

/** Isolation of commands from the machine. */
export interface SandboxConfiguration {
  readonly profile: SandboxProfile;
  /** Whether the daemon refuses to start when the sandbox does not work. */
  readonly isRequired: boolean;
  /** Whether the profile `workspace` shares the machine's network. */
  readonly network: boolean;
  /** Relative to the workspace; a directory ends in `/`. */
  readonly protectedPaths: readonly string[];
}

/** HTTP endpoints besides Socket.IO. */
interface HttpConfiguration {
  /** Whether metrics are collected and served at `/metrics`. */
  readonly metrics: boolean;
  /** Whether the OpenAI-compatible endpoint is served at `/v1/chat/completions`. */
  readonly openai: boolean;
  /** Whether the MCP endpoint is served at `/mcp`. */
  readonly mcp: boolean;
}

/** Settings of the audit log. */
interface AuditConfiguration {
  readonly enabled: boolean;
  /** Absolute path. */
  readonly filePath: string;
  /** Whether the configuration names the file: no other file is used then. */
  readonly isFileChosen: boolean;
  /** Size limit of the file: a record that would exceed it causes a rotation first. */
  readonly maxFileBytes: number;
  /** Number of rotated files that are kept. */
  readonly backups: number;
}

/** Settings of authentication. */
interface AuthConfiguration {
  readonly mode: (typeof AUTH_MODES)[number];
  /** Rate limit per token. */
  readonly requestsPerSecond: number;
  /** Most open sessions per token. */
  readonly maxSessionsPerToken: number;
}

/** The model that reviews commands. */
interface ReviewerConfiguration {
  /** `openai` is the model at `baseUrl`; the others are the providers of `llm`. */
  readonly provider: LlmProviderName;
  /** The tool to use with the provider `shell`; undefined for the first one that works. */
  readonly shellProvider: string | undefined;
  readonly baseUrl: string;
  /** Defined whenever a model at `baseUrl` confirms commands. */
  readonly model: string | undefined;
  readonly apiKey: Secret | undefined;
  readonly timeoutMs: number;
}

/** Settings of the policy and of confirmations. */
export interface ConfirmationConfiguration {
  /** `off`: every command runs; only `check_command` reports the policy's verdict. */
  readonly mode: ConfirmationMode | 'off';
  readonly preset: PresetName;
  /** Action for each class: from the preset, with the overrides of the file. */
  readonly actions: ClassActions;
  /** Modes of the classes that override `mode`. */
  readonly modes: Readonly<Partial<Record<CommandClass, ConfirmationMode>>>;
  readonly rules: readonly TestedRule[];
  readonly expiresMs: number;
  /** Whether a checkpoint is made before a confirmed command that may destroy data. */
  readonly checkpoint: boolean;
  readonly reviewer: ReviewerConfiguration;
}

/** The whole configuration: validated, with defaults, in the units that the names say, with absolute paths. */
export interface Configuration {
  /** Path of the configuration file; undefined without one. */
  readonly file: string | undefined;
  readonly adapter: AdapterConfiguration;
  readonly checkpoints: CheckpointsConfiguration;
  readonly logging: LoggingConfiguration;
  readonly socketio: SocketioConfiguration;
  readonly auth: AuthConfiguration;
  readonly confirmation: ConfirmationConfiguration;
  readonly sandbox: SandboxConfiguration;
  /** Settings of the LLM providers. */
  readonly llm: LlmSettings;
  readonly audit: AuditConfiguration;
  /** Texts that are masked in all output and records. Never print them. */
  readonly secrets: readonly string[];
  readonly http: HttpConfiguration;
  /** Environment of every shell; nothing else of the daemon's environment is inherited. */
  readonly childEnvironment: Readonly<Record<string, string>>;
}
