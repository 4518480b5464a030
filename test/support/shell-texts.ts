import fc from 'fast-check';

/** Pieces of shell syntax, and words on which the policy decides. */
const FRAGMENTS =
  '$( ` ) " \' { } (( )) [[ ]] ; | & && || < > >> << <<< >& \\ \n ~ * ? $ ${ $x # = ! rm sh eval sudo env -c -exec {} / .. \t \r \0 é 💥 \u202e if then fi do done case esac in function time coproc'.split(
    ' ',
  );

/** Texts of characters, and of pieces of shell syntax. */
export const randomTexts: fc.Arbitrary<string> = fc.oneof(
  fc.string({ maxLength: 200 }),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 60 }).map((parts) => parts.join(' ')),
  fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 60 }).map((parts) => parts.join('')),
);

/** Commands from a list with pieces cut out, doubled, swapped, or put in. */
export const mutatedTexts = (seeds: readonly string[]): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.constantFrom(...seeds),
      fc.array(
        fc.record({
          at: fc.nat({ max: 200 }),
          cut: fc.nat({ max: 12 }),
          put: fc.oneof(fc.constantFrom(...FRAGMENTS), fc.string({ maxLength: 6 })),
        }),
        { minLength: 1, maxLength: 12 },
      ),
    )
    .map(([seed, edits]) =>
      edits.reduce((text, { at, cut, put }) => text.slice(0, at) + put + text.slice(at + cut), seed),
    );
