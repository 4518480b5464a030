import { beforeEach, describe, expect, it } from 'vitest';

import { KeptAnswers } from '../../../../src/core/rest.js';

let clock: number;
let runs: number;
let kept: KeptAnswers<{ readonly text: string; readonly isFinal: boolean }>;

beforeEach(() => {
  clock = 0;
  runs = 0;
  kept = new KeptAnswers({ maxAgeMs: 100, maxAnswers: 3, maxCharacters: 20 }, () => clock);
});

/** Asks with a key; gives the text of the answer, with `again` before one that was kept. */
async function ask(key: string, { owner = 'a', fingerprint = 'f', text = '', isFinal = true } = {}) {
  const found = await kept.once({ owner, key, fingerprint }, () => {
    runs += 1;
    return Promise.resolve({ text: text || String(runs), isFinal });
  });
  return found && `${found.isRepeated ? 'again ' : ''}${found.answer.text}`;
}

describe('KeptAnswers', () => {
  it('answers a repeated request without running it', async () => {
    expect([await ask('k'), await ask('k')]).toEqual(['1', 'again 1']);
  });

  it('runs once what is asked twice while it is under way', async () => {
    expect(await Promise.all([ask('k'), ask('k')])).toEqual(['1', 'again 1']);
  });

  it('refuses a key that belongs to another request', async () => {
    await ask('k');
    expect(await ask('k', { fingerprint: 'other' })).toBeUndefined();
    expect(runs).toBe(1);
  });

  it('keeps owners apart', async () => {
    expect([await ask('k'), await ask('k', { owner: 'b' })]).toEqual(['1', '2']);
  });

  it('runs again what is not final', async () => {
    expect([await ask('k', { isFinal: false }), await ask('k')]).toEqual(['1', '2']);
  });

  it('drops an answer after its time', async () => {
    await ask('k');
    clock = 99;
    expect(await ask('k')).toBe('again 1');
    clock = 100;
    expect(await ask('k')).toBe('2');
  });

  it('drops the oldest answers above the number', async () => {
    for (const key of ['1', '2', '3', '4']) await ask(key);
    expect([await ask('4'), await ask('2'), await ask('1')]).toEqual(['again 4', 'again 2', '5']);
  });

  it('drops the oldest answers above the size, but never the newest', async () => {
    await ask('small');
    await ask('large', { text: 'x'.repeat(30) });
    expect([await ask('large'), await ask('small')]).toEqual([`again ${'x'.repeat(30)}`, '3']);
  });
});
