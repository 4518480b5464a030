import fc from 'fast-check';
import { RE2JS } from 're2js';
import { expect, it } from 'vitest';

import { requiredText } from '../../../../src/core/output/line-search.js';

it('a required text is in each text that RE2 finds', () => {
  const parts = [
    'a',
    'b',
    '.',
    '*',
    '+',
    '?',
    '|',
    '(',
    ')',
    '(?:',
    '[ab]',
    '[^a]',
    '[',
    ']',
    '\\',
    '^',
    '$',
    '{1}',
    '{',
    'é',
  ];
  const expression = fc.array(fc.constantFrom(...parts), { maxLength: 7 }).map((list) => list.join(''));
  const text = fc.string({ unit: fc.constantFrom('a', 'b', '.', '{', 'é'), maxLength: 8 });
  fc.assert(
    fc.property(expression, text, (pattern, line) => {
      const required = requiredText(pattern);
      fc.pre(required !== undefined);
      let compiled: RE2JS;
      try {
        compiled = RE2JS.compile(pattern);
      } catch {
        return;
      }
      if (compiled.matcher(line).find()) expect(line).toContain(required);
    }),
    { numRuns: 2000 },
  );
});
