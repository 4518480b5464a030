import type { AnswerFormat } from '../core/llm/answer-format.js';
import type { LlmMessage } from '../core/llm/messages.js';
import type { AccessMode } from '../core/llm/access-mode.js';
import type { Candidate } from '../core/llm/resolution.js';
import type { LlmUsage } from '../core/llm/usage.js';
import type { ResourceUse } from '../engine/command/resource-use.js';
import type { Execution } from '../services/users/executions.js';

/** A call to a provider. */
export interface LlmQuestion {
  readonly messages: readonly LlmMessage[];
  /** Undefined for the provider's default. */
  readonly model: string | undefined;
  /** Absolute path of the directory in which a command-line tool runs. */
  readonly cwd: string;
  /** True when the messages contain the repository's AGENTS.md: a tool need not read it again. */
  readonly hasAgentFile?: boolean;
  /** Undefined for text. */
  readonly format?: AnswerFormat | undefined;
  /** Access of a tool; undefined for the provider's default. */
  readonly access?: AccessMode | undefined;
  /** True when a tool may only read, whatever its provider grants, and runs in an empty directory. */
  readonly isReadOnly?: boolean;
  /** Timeout of the answer, in milliseconds; undefined for the provider's own. */
  readonly timeoutMs: number | undefined;
  /** Called with each piece of the answer as it arrives. */
  readonly onChunk: ((text: string) => void) | undefined;
  readonly signal: AbortSignal;
  /** What runs a command-line tool as another user; undefined for the daemon's own. */
  readonly execution?: Execution | undefined;
  /** Told which provider is asked, and when it runs. */
  readonly progress?: CallProgress | undefined;
}

/** Receives the progress of a call. */
export interface CallProgress {
  /** A provider is asked now: a tool may still have to wait for others. */
  asking(candidate: Candidate): void;
  /** The provider has begun. */
  running(): void;
}

/** The answer of a provider. */
export interface LlmReply {
  readonly content: string;
  /** Undefined when it is not reported. */
  readonly usage: LlmUsage | undefined;
  /** Null when it is not reported. */
  readonly model: string | null;
  readonly session: string | null;
  /** True when the content is a tool's raw output; false when the tool has marked its answer. */
  readonly isText: boolean;
  /** Resource use of the run; undefined without a run. */
  readonly use?: ResourceUse;
}

/** Availability of a provider, as far as it is known without a call. */
export type Availability =
  | { readonly available: true; readonly command: string | null }
  | { readonly available: false; readonly reason: string };
