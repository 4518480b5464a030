import { expect, it } from 'vitest';

import { requiredText } from '../../../../src/core/output/line-search.js';

it.each([
  ['^10090[0-9]{3}99$', '10090'],
  ['error: .*timeout', 'error: '],
  ['a+xyc?d', 'xy'],
  ['ab+cde', 'cde'],
  ['\\bfoo\\.bar\\b', 'foo.bar'],
  ['(GET|POST) /index', ' /index'],
  ['(?:ab)*cd', 'cd'],
  ['[]x]y', 'y'],
  ['[[:alpha:]]yz', 'yz'],
  ['é?ab', 'ab'],
  ['x{2}yz', 'yz'],
])('each match of %s has %s', (expression, text) => {
  expect(requiredText(expression)).toBe(text);
});

it.each(['a|b', '(?i)abc', '.*', '\\x41', '\\pL', '\\Qa?\\E', '((a))', '', 'ä', 'a?'])(
  'none is known of %s',
  (expression) => {
    expect(requiredText(expression)).toBeUndefined();
  },
);
