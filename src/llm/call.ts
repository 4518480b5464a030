import type { AnswerFormat } from '../core/llm/answer-format.js';
import type { LlmMessage } from '../core/llm/messages.js';
import type { AccessMode } from '../core/llm/access-mode.js';
import type { LlmUsage } from '../core/llm/usage.js';
import type { ResourceUse } from '../engine/command/resource-use.js';

/** What a provider is asked. */
export interface LlmQuestion {
  readonly messages: readonly LlmMessage[];
  /** Undefined for the provider's default. */
  readonly model: string | undefined;
  /** Where a command-line tool runs: absolute. */
  readonly cwd: string;
  /** Whether the messages have the repository's AGENTS.md: a tool need not read it again. */
  readonly hasAgentFile?: boolean;
  /** Undefined for text. */
  readonly format?: AnswerFormat | undefined;
  /** What a tool may do; undefined for what its provider says. */
  readonly access?: AccessMode | undefined;
  /** Whether a tool may only read, whatever its provider says. */
  readonly isReadOnly?: boolean;
  /** Time the answer may take; undefined for the provider's own. */
  readonly timeoutMs: number | undefined;
  /** Called with each piece of the answer as it comes. */
  readonly onChunk: ((text: string) => void) | undefined;
  readonly signal: AbortSignal;
}

/** What a provider answers. */
export interface LlmReply {
  readonly content: string;
  /** Undefined when it is not told. */
  readonly usage: LlmUsage | undefined;
  /** Null when it is not told. */
  readonly model: string | null;
  readonly session: string | null;
  /** Whether the content is what a tool has printed, and not what it says is its answer. */
  readonly isText: boolean;
  /** What its run has used; undefined without one. */
  readonly use?: ResourceUse;
}

/** Whether a provider can be asked, as far as that can be told without asking. */
export type Availability =
  | { readonly available: true; readonly command: string | null }
  | { readonly available: false; readonly reason: string };
