import fc from 'fast-check';

import { readVerdictRows } from '../../conformance/security/verdict-rows.js';
import { mutatedTexts, randomTexts } from '../../support/shell-texts.js';
import { asText, readCorpus } from '../campaign/corpus.js';

/** Texts that are not changed: the rows of the security kit, and the corpus. */
const seeds = (): readonly string[] => [
  ...readVerdictRows().flatMap(({ rows }) => rows.map(({ command }) => command)),
  ...readCorpus('policy', asText).map(({ input }) => input),
];

/** Random texts, and attacks and ordinary commands: as they are, mutated, and one after the other. */
export function policyTexts(): fc.Arbitrary<string> {
  const known = seeds();
  const plain = fc.constantFrom(...known);
  const joined = fc
    .tuple(plain, fc.constantFrom('; ', '\n', ' && ', ' | ', ' & ', ' '), plain)
    .map((parts) => parts.join(''));
  return fc.oneof(
    { weight: 4, arbitrary: mutatedTexts(known) },
    { weight: 3, arbitrary: joined },
    { weight: 2, arbitrary: randomTexts },
    { weight: 1, arbitrary: plain },
  );
}
