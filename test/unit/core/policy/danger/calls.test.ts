import { describe, expect, it } from 'vitest';

import { readLists } from '../corpus/lists.js';
import { verdictOn } from '../support.js';

const calls = readLists('calls');

/** The lines of a list that have an action. */
const linesWith = (list: string, isWanted: (action: string) => boolean) =>
  calls.lines(list).filter((line) => isWanted(verdictOn(line).action));

describe('a call of a program that is spelled in an unusual way', () => {
  it.each([
    'options before a subcommand',
    'options of wrappers',
    'names in a target directory',
    'input as a source',
    'settings behind options',
    'values attached to options',
  ])('%s: is asked about', (list) => {
    expect(linesWith(list, (action) => action === 'allow')).toEqual([]);
  });

  it('is not asked about when it is ordinary', () => {
    expect(linesWith('ordinary calls', (action) => action !== 'allow')).toEqual([]);
  });
});
