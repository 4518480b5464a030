import type { FailureKind } from './failure.js';

/**
 * Cause of the end of a run: its own exit, or the reason for ending it. `finished`: it had reported completion, but did
 * not exit; `closed`: it had closed its standard output, but did not exit.
 */
export type RunEndCause =
  | 'exit'
  | 'finished'
  | 'closed'
  | 'timeout'
  | 'idle'
  | 'limit'
  | 'cancelled'
  | 'shutdown'
  | 'flood';

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
  const decisive = decisiveFault(facts);
  if (decisive) return { ok: false, ...decisive, detail };
  if (isFinished && content !== '') return { ok: true, content };
  if (exitCode !== 0 && cause === 'exit') {
    const what = `failed with exit code ${exitCode}`;
    return { ok: false, kind: kindOf(facts), what, detail: withErrors(detail, facts.stderr.trim()) };
  }
  const lack = faultWithoutAnswer(facts, content);
  return lack ? { ok: false, ...lack, detail } : { ok: true, content };
}

/** A reason for which a run has failed. */
type Fault = Pick<Extract<RunVerdict, { ok: false }>, 'kind' | 'what'>;

/** Faults that count even when there is an answer. */
function decisiveFault(facts: RunFacts): Fault | undefined {
  const { cause, failure, isFinished } = facts;
  if (cause === 'cancelled' || cause === 'shutdown') return { kind: 'cancelled', what: 'was cancelled' };
  if (cause === 'flood') return { kind: 'failed', what: 'printed more than an answer can be' };
  if (cause === 'limit' && !isFinished) return { kind: 'limit', what: 'exceeded a limit and was ended' };
  return failure === undefined ? undefined : { kind: kindOf(facts), what: 'failed' };
}

/** Faults of a run that has reported no completed answer. */
function faultWithoutAnswer({ cause, isText, isFinished }: RunFacts, content: string): Fault | undefined {
  if (cause === 'timeout') return { kind: 'timeout', what: 'ran into its time-out' };
  if (cause === 'idle') return { kind: 'timeout', what: 'printed nothing for too long' };
  // Some tools lose the end of their output on exit, so the answer may be incomplete.
  if (!isText && !isFinished) return { kind: 'failed', what: 'ended before it had said that it was done' };
  return content === '' ? { kind: 'empty', what: 'gave an empty answer' } : undefined;
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
