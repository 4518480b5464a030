import fc from 'fast-check';
import { expect, it } from 'vitest';

import { OutputMask } from '../../../../src/engine/output/output-mask.js';

const SECRETS = ['aaba', 'abaab', 'bbbb'];

function maskWhole(text: string): string {
  const masked = Array.from(text);
  for (const secret of SECRETS) {
    for (let at = text.indexOf(secret); at !== -1; at = text.indexOf(secret, at + 1)) {
      masked.fill('*', at, at + secret.length);
    }
  }
  return masked.join('');
}

it('masks the same bytes however the stream is cut', () => {
  const pieces = fc.array(fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 12 }), { maxLength: 12 });
  fc.assert(
    fc.property(pieces, (chunks) => {
      const mask = new OutputMask(SECRETS, 'each-byte');
      const shown = [...chunks.map((chunk) => mask.push(Buffer.from(chunk))), mask.flush()];
      expect(Buffer.concat(shown).toString()).toBe(maskWhole(chunks.join('')));
    }),
  );
});
