import fc from 'fast-check';
import { expect, it } from 'vitest';
import { loadConfiguration } from '../../../../src/config/read/load.js';
import { BARE_ENV, CWD } from '../support.js';

it('output sizes that are accepted always fit', () => {
  const size = fc.option(fc.integer({ min: 0, max: 50 }), { nil: undefined });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), size, size, (max, begin, end) => {
      fc.pre((begin ?? 0) + (end ?? 0) <= max);
      const sizes = { max_output_size: max, begin_output_size: begin, end_output_size: end };
      const { adapter } = loadConfiguration({ env: BARE_ENV, cwd: CWD, overrides: { adapter: sizes } });
      expect(adapter.beginOutputSize + adapter.endOutputSize).toBeLessThanOrEqual(max);
      expect([begin ?? adapter.beginOutputSize, end ?? adapter.endOutputSize]).toEqual([
        adapter.beginOutputSize,
        adapter.endOutputSize,
      ]);
    }),
  );
});
