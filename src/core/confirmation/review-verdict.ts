import { z } from 'zod';

/** What a reviewer has said. */
export interface ReviewVerdict {
  readonly verdict: 'approve' | 'reject';
  /** For people. */
  readonly reason: string;
}

/** Longest answer that is looked at, in characters. */
const MAX_ANSWER_LENGTH = 4096;

const answer = z.strictObject({
  verdict: z.enum(['approve', 'reject']),
  reason: z.string().regex(/\S/).max(2000),
});

/**
 * Reads a reviewer's answer: exactly one JSON object of the two fields, and nothing beside it but white space.
 * @returns undefined for anything else, which means no. Of a field that is there twice, JSON takes the last: that is
 * something else too.
 */
export function readReview(text: string): ReviewVerdict | undefined {
  if (text.length > MAX_ANSWER_LENGTH) return undefined;
  const verdicts = text.match(/"(?:verdict|reason)"\s*:/g) ?? [];
  if (verdicts.length !== 2 || hasEscapedLetters(text)) return undefined;
  try {
    return answer.parse(JSON.parse(text));
  } catch {
    // A SyntaxError or a ZodError: it is no verdict.
    return undefined;
  }
}

/** Letters need no escape; a name that has one might be a second `verdict`. */
const hasEscapedLetters = (text: string): boolean => /\\u00[4-7]/i.test(text);
