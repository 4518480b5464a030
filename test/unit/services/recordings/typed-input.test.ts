import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { TypedInput } from '../../../../src/services/session-recorder.js';

const SECRET = 'sesame-password';

interface Key {
  readonly text: string;
  readonly isShown: boolean;
}

/** What is recorded when the terminal echoes at once what it shows. */
function record(keys: readonly Key[], patterns: readonly string[] = []): string {
  let recorded = '';
  const input = new TypedInput(patterns, (text) => (recorded += text));
  for (const { text, isShown } of keys) {
    input.take(text, isShown);
    if (isShown) input.echo(Buffer.from(text.replaceAll(/[\r\n]/gu, '\r\n')));
  }
  input.end();
  return recorded;
}

const shown = (text: string): Key => ({ text, isShown: true });
const hidden = (text: string): Key => ({ text, isShown: false });

describe('what is recorded of typed input', () => {
  it.each<[string, readonly Key[], string]>([
    ['what the terminal echoes', [shown('Alice\n')], 'Alice\n'],
    ['nothing of what it does not echo', [hidden('hunter2\n')], '***\n'],
    ['one mask for a line, however it is cut', [hidden('h'), hidden('unter'), hidden('2\r')], '***\r'],
    [
      'a line up to its first hidden part',
      [shown('user '), hidden('pass'), shown('word\r'), shown('on\r')],
      'user ***\ron\r',
    ],
    ['each line of a hidden text', [hidden('one\rtwo\nthree')], '***\r***\n***'],
    ['Enter alone', [hidden('\r'), shown('\n')], '\r\n'],
    ['the next line again', [hidden('pw\n'), shown('yes\n')], '***\nyes\n'],
    ['secrets masked, in pieces', Array.from('a sesame-password b\r', shown), 'a *** b\r'],
    ['no start of a secret that ends hidden', [shown('sesame-p'), hidden('assword'), shown('x\r')], '***\r'],
    ['an unfinished secret as it is', [shown('sesame-p\r')], 'sesame-p\r'],
  ])('%s', (_title, keys, expected) => {
    expect(record(keys, [SECRET])).toBe(expected);
  });

  it('waits for the echo, which may come in pieces', () => {
    const recorded: string[] = [];
    const input = new TypedInput([], (text) => recorded.push(text));
    input.take('Alice', true);
    input.take('\r', true);
    input.echo(Buffer.from('name: Al'));
    expect(recorded).toEqual([]);
    input.echo(Buffer.from('ice\r\n'));
    expect(recorded).toEqual(['Alice', '\r']);
  });

  it('hides what was not echoed, although the terminal seemed to', () => {
    let recorded = '';
    const input = new TypedInput([], (text) => (recorded += text));
    input.take('hunter2\r', true);
    input.take('yes\r', true);
    input.echo(Buffer.from('yes\r\n'));
    expect(recorded).toBe('***\ryes\r');
    input.take('again\r', true);
    input.end();
    expect(recorded).toBe('***\ryes\r***\r');
  });

  it('bounds what waits for an echo', () => {
    let recorded = '';
    const input = new TypedInput([], (text) => (recorded += text));
    for (let count = 0; count < 1000; count += 1) input.take('x\r', true);
    expect(recorded).toMatch(/^(?:\*{3}\r){700,}$/u);
  });
});

describe('properties of what is recorded', () => {
  const letters = fc.string({ unit: fc.constantFrom(...Array.from('abcsem-ß😀 \r\n')) });
  const keys = fc.array(fc.record({ text: letters, isShown: fc.boolean() }), { maxLength: 12 });

  it('nothing of a hidden line is recorded from its first hidden part on', () => {
    fc.assert(
      fc.property(keys, fc.nat(), (typed, where) => {
        const at = typed.length === 0 ? 0 : where % (typed.length + 1);
        const all = [...typed.slice(0, at), hidden('HUSH'), ...typed.slice(at)];
        expect(record(all)).not.toMatch(/[HUS]/u);
      }),
    );
  });

  it('line ends stay, in order', () => {
    const ends = (text: string) => text.replaceAll(/[^\r\n]/gu, '');
    fc.assert(
      fc.property(keys, (typed) => {
        expect(ends(record(typed))).toBe(ends(typed.map(({ text }) => text).join('')));
      }),
    );
  });

  it('a shown text is the same however it is cut, with its secrets masked', () => {
    const text = fc.array(fc.oneof(letters, fc.constant(SECRET)), { maxLength: 6 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, fc.array(fc.nat({ max: 12 }), { maxLength: 20 }), (typed, lengths) => {
        const left = Array.from(typed);
        const pieces = [...lengths.map((length) => left.splice(0, length).join('')), left.join('')];
        expect(record(pieces.map(shown), [SECRET])).toBe(typed.replaceAll(SECRET, '***'));
      }),
    );
  });

  it('no secret is recorded whole, whatever is hidden in between', () => {
    const cut = fc.array(fc.tuple(fc.nat({ max: 8 }), fc.boolean()), { maxLength: 12 });
    fc.assert(
      fc.property(letters, cut, (before, pieces) => {
        const left = Array.from(`${before}${SECRET}\r`);
        const typed = [...pieces, [left.length, true] as const].map(([length, isShown]) => ({
          text: left.splice(0, length).join(''),
          isShown,
        }));
        expect(record(typed, [SECRET])).not.toContain(SECRET);
        const isCut = typed.some(({ text, isShown }) => !isShown && /[a-z]/u.test(text));
        if (isCut && before === '') expect(record(typed, [SECRET])).not.toMatch(/^[a-z]{3,}.*\*{3}/u);
      }),
    );
  });
});
