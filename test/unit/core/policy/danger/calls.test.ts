import { describe, expect, it } from 'vitest';

import { readLists } from '../corpus/lists.js';
import { verdictOn } from '../support.js';

const calls = readLists('calls');

/** The lines of a list that have an action. */
const linesWith = (list: string, isWanted: (action: string) => boolean) =>
  calls.lines(list).filter((line) => isWanted(verdictOn(line).action));

describe('a call of a program with effects that only its options, operands or verbs show', () => {
  it.each([
    'options before a subcommand',
    'options of wrappers',
    'names in a target directory',
    'input as a source',
    'settings behind options',
    'values attached to options',
    'commands of unknown launchers',
    'files that options name',
    'verbs that destroy',
    'escapes of database clients',
    'code from elsewhere',
    'settings that run later',
    'programs that only seem to read',
  ])('%s: is asked about', (list) => {
    expect(linesWith(list, (action) => action === 'allow')).toEqual([]);
  });

  it('is not asked about when it is ordinary', () => {
    expect(linesWith('ordinary calls', (action) => action !== 'allow')).toEqual([]);
  });
});
