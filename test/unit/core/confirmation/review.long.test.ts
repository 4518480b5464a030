import fc from 'fast-check';
import { expect, it } from 'vitest';

import { buildReview } from '../../../../src/core/review.js';
import { BOUNDARY, question } from './support.js';
import { anyCharacter } from '../../../support/code-points.js';

it('the question to a reviewing model cannot be ended by any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (command) => {
      expect((buildReview(question({ command }), BOUNDARY)?.[1]?.content ?? '').split('\n')).toHaveLength(5);
    }),
    { numRuns: 50 },
  );
});
