import type { FailureKind } from './failure.js';

/**
 * Why a run ended: by itself, or what it was ended for. `finished`: it had said that it was done, and stayed; `closed`: it had closed its
 * standard output, and stayed.
 */
export type RunEndCause =
  'exit' | 'finished' | 'closed' | 'timeout' | 'idle' | 'limit' | 'cancelled' | 'shutdown' | 'flood';

/** What is known of a run that has ended. */
export interface RunFacts {
  readonly cause: RunEndCause;
  /** As shells count. Says nothing when the run was ended from outside. */
  readonly exitCode: number;
  /** What the tool itself says has gone wrong. */
  readonly failure: string | undefined;
  /** What the tool's structured error means; undefined when it does not say. */
  readonly failureKind: FailureKind | undefined;
  /** Whether the tool has said that it is done. */
  readonly isFinished: boolean;
  /** Whether the answer is what it has printed: then it never says so. */
  readonly isText: boolean;
  readonly text: string;
  /** What else is on standard output, its end. */
  readonly noise: string;
  /** The end of standard error. Never empty of noise, so it decides nothing. */
  readonly stderr: string;
  readonly exitKinds: Readonly<Record<number, FailureKind>>;
}

/** What became of a run. */
export type RunVerdict =
  | { readonly ok: true; readonly content: string }
  | { readonly ok: false; readonly kind: FailureKind; readonly what: string; readonly detail: string };

/**
 * Tells a good run from a bad one. Exit code 0 is not success, and another one is no failure once there is an answer; what
 * the tool says counts first, then why it ended, then its exit code.
 */
export function judgeRun(facts: RunFacts): RunVerdict {
  const { cause, failure, isFinished, exitCode } = facts;
  const content = facts.text.trim();
  const detail = failure ?? [facts.noise, content, facts.stderr].map((text) => text.trim()).find(Boolean) ?? '';
  const bad = (kind: FailureKind, what: string): RunVerdict => ({ ok: false, kind, what, detail });
  if (cause === 'cancelled' || cause === 'shutdown') return bad('cancelled', 'was cancelled');
  if (cause === 'flood') return bad('failed', 'printed more than an answer can be');
  if (cause === 'limit' && !isFinished) return bad('limit', 'exceeded a limit and was ended');
  if (failure !== undefined) return bad(kindOf(facts), 'failed');
  if (isFinished && content !== '') return { ok: true, content };
  if (cause === 'timeout') return bad('timeout', 'ran into its time-out');
  if (cause === 'idle') return bad('timeout', 'printed nothing for too long');
  if (exitCode !== 0 && cause === 'exit') {
    return {
      ok: false,
      kind: kindOf(facts),
      what: `failed with exit code ${exitCode}`,
      detail: withErrors(detail, facts.stderr.trim()),
    };
  }
  // Some drop the end of their output when they end: what has come of an answer need not be all of it.
  if (!facts.isText && !isFinished) return bad('failed', 'ended before it had said that it was done');
  if (content === '') return bad('empty', 'gave an empty answer');
  return { ok: true, content };
}

/** Of each of two outputs that are told together so much is told, its end, in characters. */
const MAX_TOLD = 2000;

/** Tools say what is wrong on either output: nobody knows on which. */
const withErrors = (told: string, errors: string): string =>
  errors === '' || told.includes(errors) ? told : `${told.slice(-MAX_TOLD)}\n${errors.slice(-MAX_TOLD)}`;

/** Text is never searched for words: any tool may print "429" or "quota" for reasons of its own. */
const kindOf = ({ exitKinds, exitCode, failureKind }: RunFacts): FailureKind =>
  failureKind ?? exitKinds[exitCode] ?? 'failed';
