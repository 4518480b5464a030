import { describe, expect, it, vi } from 'vitest';

import type { ReviewQuestion } from '../../../../src/core/review.js';
import { ReviewCache } from '../../../../src/services/llm/review.js';
import type { Reviewer } from '../../../../src/services/confirmations/confirmation.js';

const { signal } = new AbortController();
const ask = (command: string) => ({ kind: 'command', command, workingDirectory: '/work' }) as ReviewQuestion;

function makeCache(maxAgeMs = 60_000) {
  const review = vi.fn<Reviewer['review']>(() => Promise.resolve({ verdict: 'approve', reason: 'harmless' }));
  const cache = new ReviewCache(() => maxAgeMs);
  return { review, cache, reviewer: cache.wrap({ name: 'judge', review }, 'one') };
}

describe('the cache of reviews', () => {
  it('answers an identical question without another call', async () => {
    const { review, reviewer } = makeCache();
    const first = await reviewer.review(ask('rm x'), signal);
    expect(await reviewer.review(ask('rm x'), signal)).toEqual(first);
    expect(review).toHaveBeenCalledTimes(1);
  });

  it.each([
    ['another question', (made: ReturnType<typeof makeCache>) => made.reviewer.review(ask('rm y'), signal)],
    [
      'another reviewer',
      ({ cache, review }: ReturnType<typeof makeCache>) =>
        cache.wrap({ name: 'judge', review }, 'two').review(ask('rm x'), signal),
    ],
  ])('does not answer %s', async (_, askAgain) => {
    const made = makeCache();
    await made.reviewer.review(ask('rm x'), signal);
    await askAgain(made);
    expect(made.review).toHaveBeenCalledTimes(2);
  });

  it('forgets a verdict after its time', async () => {
    const { review, reviewer } = makeCache(0);
    await reviewer.review(ask('rm x'), signal);
    await reviewer.review(ask('rm x'), signal);
    expect(review).toHaveBeenCalledTimes(2);
  });

  it('keeps no failure', async () => {
    const { review, reviewer } = makeCache();
    review.mockRejectedValueOnce(new Error('no answer'));
    await expect(reviewer.review(ask('rm x'), signal)).rejects.toThrow('no answer');
    expect(await reviewer.review(ask('rm x'), signal)).toMatchObject({ verdict: 'approve' });
  });
});
