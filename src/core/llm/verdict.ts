import type { FailureKind } from './failure.js';

/**
 * Cause of the end of a run: its own exit, or the reason for ending it. `finished`: it had reported completion, but did
 * not exit; `closed`: it had closed its standard output, but did not exit.
 */
export type RunEndCause =
  'exit' | 'finished' | 'closed' | 'timeout' | 'idle' | 'limit' | 'cancelled' | 'shutdown' | 'flood';

/** Facts about a run that has ended. */
export interface RunFacts {
  readonly cause: RunEndCause;
  /** In shell convention. Meaningless when the run was ended from outside. */
  readonly exitCode: number;
  /** Failure that the tool itself reported. */
  readonly failure: string | undefined;
  /** Meaning of the tool's structured error; undefined when it reported none. */
  readonly failureKind: FailureKind | undefined;
  /** Whether the tool has reported completion. */
  readonly isFinished: boolean;
  /** Whether the answer is plain printed text; such a tool never reports completion. */
  readonly isText: boolean;
  readonly text: string;
  /** The end of other output on standard output. */
  readonly noise: string;
  /** The end of standard error. It always contains noise, so it decides nothing. */
  readonly stderr: string;
  readonly exitKinds: Readonly<Record<number, FailureKind>>;
}

/** Outcome of a run. */
export type RunVerdict =
  | { readonly ok: true; readonly content: string }
  | { readonly ok: false; readonly kind: FailureKind; readonly what: string; readonly detail: string };

/**
 * Decides whether a run has succeeded. Exit code 0 does not imply success, and another code is no failure when there is
 * an answer. The tool's own report takes precedence, then the cause of the end, then the exit code.
 */
export function judgeRun(facts: RunFacts): RunVerdict {
  const { cause, failure, isFinished, exitCode } = facts;
  const content = facts.text.trim();
  const detail = failure ?? [facts.noise, content, facts.stderr].map((text) => text.trim()).find(Boolean) ?? '';
  const failed = (kind: FailureKind, what: string): RunVerdict => ({ ok: false, kind, what, detail });
  if (cause === 'cancelled' || cause === 'shutdown') return failed('cancelled', 'was cancelled');
  if (cause === 'flood') return failed('failed', 'printed more than an answer can be');
  if (cause === 'limit' && !isFinished) return failed('limit', 'exceeded a limit and was ended');
  if (failure !== undefined) return failed(kindOf(facts), 'failed');
  if (isFinished && content !== '') return { ok: true, content };
  if (cause === 'timeout') return failed('timeout', 'ran into its time-out');
  if (cause === 'idle') return failed('timeout', 'printed nothing for too long');
  if (exitCode !== 0 && cause === 'exit') {
    return {
      ok: false,
      kind: kindOf(facts),
      what: `failed with exit code ${exitCode}`,
      detail: withErrors(detail, facts.stderr.trim()),
    };
  }
  // Some tools lose the end of their output on exit, so the answer may be incomplete.
  if (!facts.isText && !isFinished) return failed('failed', 'ended before it had said that it was done');
  if (content === '') return failed('empty', 'gave an empty answer');
  return { ok: true, content };
}

/** Most characters of each output in a message that contains two; the end is kept. */
const MAX_OUTPUT_CHARACTERS = 2000;

/** Tools report errors on either output, so the message contains both. */
const withErrors = (output: string, errors: string): string =>
  errors === '' || output.includes(errors)
    ? output
    : `${output.slice(-MAX_OUTPUT_CHARACTERS)}\n${errors.slice(-MAX_OUTPUT_CHARACTERS)}`;

/** Text is never searched for keywords: any tool may print "429" or "quota" for unrelated reasons. */
const kindOf = ({ exitKinds, exitCode, failureKind }: RunFacts): FailureKind =>
  failureKind ?? exitKinds[exitCode] ?? 'failed';
