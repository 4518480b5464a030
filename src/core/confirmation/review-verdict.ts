import { z } from 'zod';

/** A reviewer's verdict. */
export interface ReviewVerdict {
  readonly verdict: 'approve' | 'reject';
  /** Reason, for people. */
  readonly reason: string;
}

/** Longest answer that is parsed, in characters. */
const MAX_ANSWER_LENGTH = 4096;

const answer = z.strictObject({
  verdict: z.enum(['approve', 'reject']),
  reason: z.string().regex(/\S/).max(2000),
});

/**
 * Parses a reviewer's answer: exactly one JSON object with the two fields, and nothing else except white space.
 * @returns undefined for any other answer, which means no (fail closed). JSON uses the last of two fields with the same
 * name, so duplicate fields are invalid too.
 */
export function readReview(text: string): ReviewVerdict | undefined {
  if (text.length > MAX_ANSWER_LENGTH) return undefined;
  const verdicts = text.match(/"(?:verdict|reason)"\s*:/g) ?? [];
  if (verdicts.length !== 2 || hasEscapedLetters(text)) return undefined;
  try {
    return answer.parse(JSON.parse(text));
  } catch {
    // A SyntaxError or a ZodError: the answer is no verdict.
    return undefined;
  }
}

/** Letters need no escape; an escaped name might be a second `verdict`. */
const hasEscapedLetters = (text: string): boolean => /\\u00[4-7]/i.test(text);
