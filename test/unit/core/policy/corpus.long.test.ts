import { describe, expect, it } from 'vitest';

import { ATTACKS, READ_SECRETS } from './corpus/attacks.js';
import { readLists } from './corpus/lists.js';
import { verdictOn } from './support.js';

/** A session that has started no process. */
const SESSION = { ownProcesses: new Set<number>() };
const isAllowed = (text: string, preset?: 'strict') =>
  verdictOn(text, SESSION, preset ? { preset } : {}).action === 'allow';

/** Most ordinary commands that may be asked about, as a share. */
const MOST_ASKED = 0.03;

describe('a list of attacks, made of subjects and ways to write them', () => {
  it.each(Object.entries(ATTACKS))('%s: none runs unasked under balanced', (_class, attacks) => {
    expect(attacks.filter((text) => isAllowed(text))).toEqual([]);
  });

  it('no credentials are read unasked under strict', () => {
    expect(READ_SECRETS.filter((text) => isAllowed(text, 'strict'))).toEqual([]);
  });

  it('has thousands of them', () => {
    expect(Object.values(ATTACKS).flat().length).toBeGreaterThan(4_000);
  });
});

describe('a list of ordinary commands', () => {
  const ordinary = readLists('ordinary');
  const kinds = ['git', 'javascript', 'python', 'compiled', 'files', 'services'];
  const all = kinds.flatMap((kind) => ordinary.lines(kind));

  it('has many hundreds of them', () => {
    expect(new Set(all).size).toBeGreaterThan(900);
  });

  it('at most three in a hundred are asked about under balanced', () => {
    const asked = all.filter((text) => !isAllowed(text));
    expect(asked.length / all.length, asked.join('\n')).toBeLessThanOrEqual(MOST_ASKED);
  });
});
