import fc from 'fast-check';

/** Code points that are halves of a surrogate pair: no characters. */
const SURROGATES = { first: 0xd800, count: 0x800 };
const LAST = 0x10ffff;

/** Any character of Unicode. The unit `binary` of fast-check has the same ones, in a table that takes 0.3 s to be made. */
export const anyCharacter = fc
  .integer({ min: 0, max: LAST - SURROGATES.count })
  .map((number) => String.fromCodePoint(number < SURROGATES.first ? number : number + SURROGATES.count));
