import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { OutputMask } from '../../../../src/engine/output/output-mask.js';
import { propertyRuns } from '../../../support/rounds.js';

/** What comes out when a text comes in pieces of these sizes, the last one for all the rest. */
function mask(text: string, secrets: readonly string[], sizes: readonly number[] = []): string {
  const output = new OutputMask(secrets);
  const bytes = Buffer.from(text);
  const shown: Buffer[] = [];
  let from = 0;
  for (const size of [...sizes, bytes.length]) {
    shown.push(Buffer.from(output.push(bytes.subarray(from, from + size))));
    from += size;
  }
  shown.push(Buffer.from(output.flush()));
  return Buffer.concat(shown).toString();
}

/** The same, by a plain look at the whole text: every byte of a secret is hidden, and what touches is one mask each. */
function expected(text: string, secrets: readonly string[]): string {
  const isSecret = new Array<boolean>(text.length).fill(false);
  const starts = new Set<number>();
  for (const secret of secrets) {
    for (let at = text.indexOf(secret); at !== -1; at = text.indexOf(secret, at + 1)) {
      starts.add(at);
      isSecret.fill(true, at, at + secret.length);
    }
  }
  let shown = '';
  let coveredUntil = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (!isSecret[at]) shown += text.charAt(at);
    // A secret that begins inside of another one belongs to its mask.
    if (starts.has(at) && at >= coveredUntil) shown += '***';
    for (const secret of secrets) {
      if (text.startsWith(secret, at)) coveredUntil = Math.max(coveredUntil, at + secret.length);
    }
  }
  return shown;
}

describe('secrets in a stream', () => {
  it.each([
    ['no secret in it', ['secret-1'], 'no secret in it'],
    ['a secret-1 here', ['secret-1'], 'a *** here'],
    ['secret-1secret-1', ['secret-1'], '******'],
    ['abcdefghij', ['abcdefgh', 'efghij'], '***'],
    ['abcdefghij', ['abcdefgh', 'abcdefghij'], '***'],
    ['ends with secret-', ['secret-1'], 'ends with secret-'],
    ['aaaaaaaaaaaaaaaaaaaa!', ['aaaaaaaa'], '***!'],
    ['päßwörter sind geheim', ['päßwörter'], '*** sind geheim'],
  ])('%j without %j is %j, however it is cut in two', (text, secrets, shown) => {
    for (let cut = 0; cut <= Buffer.byteLength(text); cut += 1) expect(mask(text, secrets, [cut])).toBe(shown);
    expect(mask(text, secrets, new Array<number>(Buffer.byteLength(text)).fill(1))).toBe(shown);
  });

  it('are hidden whatever they are and however they come', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 2, maxLength: 5 });
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '-'), maxLength: 40 });
    fc.assert(
      fc.property(
        text,
        fc.uniqueArray(word, { minLength: 1, maxLength: 3 }),
        fc.array(fc.nat(6)),
        (given, secrets, sizes) => {
          expect(mask(given, secrets, sizes)).toBe(expected(given, secrets));
        },
      ),
      { numRuns: propertyRuns(3000) },
    );
  });

  it('hold nothing back that none of them begins with', () => {
    const output = new OutputMask(['secret-1']);
    expect(output.push(Buffer.from('Password: ')).toString()).toBe('Password: ');
    expect(output.push(Buffer.from('is it s')).toString()).toBe('is it ');
    expect(output.push(Buffer.from('o?')).toString()).toBe('so?');
  });
});
