import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeLine, formatFacts } from '../../../src/logging/logging.js';
import { anyCharacter } from '../../support/code-points.js';

const circular: Record<string, unknown> = { a: 1 };
circular['self'] = circular;
const shared = { x: 1 };

describe('the facts of a record', () => {
  const cases: readonly [Record<string, unknown> | undefined, string][] = [
    [undefined, ''],
    [{}, ''],
    [{ a: undefined }, ''],
    [{ id: 's-1', n: 3, ok: true, none: null, big: 7n }, ' id=s-1 n=3 ok=true none=null big=7'],
    [{ path: '/a/b.c' }, ' path=/a/b.c'],
    [{ text: 'two words' }, ' text="two words"'],
    [{ text: '' }, ' text=""'],
    [{ text: 'a"b\\c' }, ' text="a\\"b\\\\c"'],
    [{ text: 'a=b' }, ' text="a=b"'],
    [{ 'a key': 1 }, ' "a key"=1'],
    [{ text: 'one\ntwo\u001b[31m\u0085\u2028' }, ' text="one\\ntwo\\u001b[31m\\u0085\\u2028"'],
    [{ list: [1, 'x'], map: { k: 'v' } }, ' list=[1,"x"] map={"k":"v"}'],
    [{ bytes: Buffer.from('abc') }, ' bytes="<3 bytes>"'.replaceAll('"', '')],
    [{ self: circular }, ' self={"a":1,"self":"<circular>"}'],
    [{ twice: [shared, shared] }, ' twice=[{"x":1},{"x":1}]'],
    [{ deep: { big: 7n } }, ' deep={"big":"7"}'],
    [{ odd: { toJSON: () => undefined } }, ' odd=undefined'],
    [{ long: 'x'.repeat(8193) }, ` long="${'x'.repeat(8192)}… (1 more)"`],
  ];

  it.each(cases.map(([facts, expected]) => ({ facts, expected })))(
    'are written as $expected',
    ({ facts, expected }) => {
      expect(formatFacts(facts)).toBe(expected);
    },
  );

  it('have the stack of an error and of its causes', () => {
    const error = new TypeError('outer', { cause: new Error('inner') });
    const text = formatFacts({ error });
    expect(text).toMatch(/^ error="TypeError: outer\\n +at .*caused by Error: inner\\n +at .*"$/);
  });

  it('have the message of an error whose stack was made before it', () => {
    const error = new Error('early');
    error.message = 'late';
    expect(formatFacts({ error })).toContain('Error: late');
  });

  it('that cannot be read are said to be so', () => {
    const facts = {
      get bad(): string {
        throw new Error('no');
      },
    };
    expect(formatFacts(facts)).toBe(' facts_error="Error: no"');
  });

  it('never make a second line, whatever they are', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: anyCharacter }), fc.anything()), (facts) => {
        // oxlint-disable-next-line no-control-regex -- control characters are what must not be there
        expect(formatFacts(facts)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
      }),
    );
  });
});

describe('escaping', () => {
  it.each([
    ['plain: äöü 日本 🙂', 'plain: äöü 日本 🙂'],
    ['a\nb\rc\td', 'a\\nb\\rc\\td'],
    ['\u0000\u0007\u001b[2J\u007f\u009b', '\\u0000\\u0007\\u001b[2J\\u007f\\u009b'],
    ['\u2028\u2029\u202e', '\\u2028\\u2029\\u202e'],
    ['\ud83d!', '\\ud83d!'],
    ['C:\\new', 'C:\\new'],
  ])('%j gives %j', (text, expected) => {
    expect(escapeLine(text)).toBe(expected);
  });
});
