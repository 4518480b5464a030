import { describe, expect, it } from 'vitest';

import { KEY_NAMES, sequenceOf } from '../../../../src/core/keys.js';

describe('the text of keys', () => {
  it.each([
    ['a', 'a'],
    ['é', 'é'],
    ['😀', '😀'],
    ['-', '-'],
    ['Enter', '\r'],
    ['Esc', '\x1b'],
    ['Space', ' '],
    ['Backspace', '\x7f'],
    ['S-Tab', '\x1b[Z'],
    ['Up', '\x1b[A'],
    ['End', '\x1b[F'],
    ['C-Left', '\x1b[1;5D'],
    ['S-M-Right', '\x1b[1;4C'],
    ['F1', '\x1bOP'],
    ['F5', '\x1b[15~'],
    ['S-F5', '\x1b[15;2~'],
    ['Delete', '\x1b[3~'],
    ['PgDn', '\x1b[6~'],
    ['C-c', '\x03'],
    ['C-[', '\x1b'],
    ['C-Space', '\0'],
    ['C-?', '\x7f'],
    ['M-x', '\x1bx'],
    ['S-a', 'A'],
    ['C-M-d', '\x1b\x04'],
    ['M-Enter', '\x1b\r'],
    ['C--', undefined],
    ['C-é', undefined],
    ['up', undefined],
    ['C-', undefined],
    ['ab', undefined],
  ])('of %s is %j', (key, text) => {
    if (text !== undefined) expect(sequenceOf(key, false)).toBe(text);
    else expect(() => sequenceOf(key, false)).toThrow(/there is no key .*; keys are single characters, Enter, Tab/);
  });

  it('depends on the mode for cursor keys without modifiers alone', () => {
    const differing = KEY_NAMES.filter((name) => sequenceOf(name, true) !== sequenceOf(name, false));
    expect(differing).toEqual(['Up', 'Down', 'Right', 'Left', 'Home', 'End']);
    expect(sequenceOf('Up', true)).toBe('\x1bOA');
    expect(sequenceOf('C-Up', true)).toBe('\x1b[1;5A');
  });
});
