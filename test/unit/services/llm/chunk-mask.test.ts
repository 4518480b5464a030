import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { patternsOf } from '../../../../src/core/secrets.js';
import { ChunkMask } from '../../../../src/services/llm/providers.js';

const SECRET = 'sk-ünique-0123';

/** The pieces that come out when these go in. */
function mask(pieces: readonly string[], secrets: readonly string[] = [SECRET]): string[] {
  const given: string[] = [];
  const chunks = new ChunkMask(patternsOf(secrets), (text) => given.push(text));
  for (const piece of pieces) chunks.push(piece);
  chunks.end();
  return given;
}

describe('pieces of an answer', () => {
  it.each([
    ['a secret in one', [`key ${SECRET}!`], 'key ***!'],
    ['a secret across several', ['key sk', '-ün', 'ique-', '0123', ' it is'], 'key *** it is'],
    ['a secret letter by letter', Array.from(`(${SECRET})`), '(***)'],
    ['the beginning of one, and then something else', ['sk-', 'ünite'], 'sk-ünite'],
    ['the beginning of one at the end', ['the sk-ü'], 'the sk-ü'],
    ['characters of two code units, cut apart', ['\ud83d', '\ude00 ', SECRET], '\u{1f600} ***'],
    ['half a character at the end', ['a\ud83d'], 'a\ud83d'],
  ])('%s', (_, pieces, expected) => {
    expect(mask(pieces).join('')).toBe(expected);
  });

  it('come as they are without secrets', () => {
    expect(mask(['a', '', '\ud83d', 'b'], [])).toEqual(['a', '\ud83d', 'b']);
  });

  it('come at once where no secret can begin', () => {
    expect(mask(['one ', 'two ', 'three'])).toEqual(['one ', 'two ', 'three']);
  });

  it('show no secret wherever they are cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(SECRET, 'sk-', 'ü', 'x ', '\u{1f600}')),
        fc.array(fc.nat(9)),
        (words, cuts) => {
          const text = words.join('');
          const pieces: string[] = [];
          let at = 0;
          for (const cut of cuts) pieces.push(text.slice(at, (at += cut)));
          pieces.push(text.slice(at));
          expect(mask(pieces).join('')).toBe(text.replaceAll(SECRET, '***'));
        },
      ),
    );
  });
});
