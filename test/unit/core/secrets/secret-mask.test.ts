import { describe, expect, it } from 'vitest';

import { patternsOf, SecretMask } from '../../../../src/core/secrets.js';

describe('secrets in texts', () => {
  const secrets = [
    'hunter2-hunter2',
    'with "quotes" in it',
    'hunter2-hunter2-longer',
    'longer-and-other',
    'ababababab',
  ];
  const mask = new SecretMask(secrets);

  it.each([
    ['nothing to hide', 'nothing to hide'],
    ['a hunter2-hunter2 and a hunter2-hunter2', 'a *** and a ***'],
    ['hunter2-hunter2-longer', '***'],
    ['<hunter2-hunter2-longer-and-other>', '<***>'],
    ['abababababab.', '***.'],
    ['hunter2-hunter2hunter2-hunter2', '******'],
    [JSON.stringify({ value: 'with "quotes" in it' }), '{"value":"***"}'],
    ['HUNTER2-HUNTER2', 'HUNTER2-HUNTER2'],
  ])('%j becomes %j', (text, expected) => {
    expect(mask.text(text)).toBe(expected);
  });

  it('are masked in values of every shape; bytes are left alone', () => {
    const bytes = Buffer.from('hunter2-hunter2');
    const value = { a: ['hunter2-hunter2', { b: 'x hunter2-hunter2' }], c: null, d: 3, e: undefined, bytes };
    expect(mask.value(value)).toEqual({ a: ['***', { b: 'x ***' }], c: null, d: 3, e: undefined, bytes });
    expect(mask.value({ env: { 'hunter2-hunter2': '1' } })).toEqual({ env: { '***': '1' } });
  });

  it('cost nothing when there are none', () => {
    const value = { a: ['hunter2-hunter2'] };
    expect(new SecretMask().value(value)).toBe(value);
  });

  it('can be replaced', () => {
    const changing = new SecretMask(['first-secret']);
    changing.replace(['second-secret']);
    expect(changing.text('first-secret second-secret')).toBe('first-secret ***');
  });
});

describe('what is looked for', () => {
  it('is each line of a secret that is long enough, without the blanks around it', () => {
    expect(patternsOf(['-----BEGIN KEY-----\r\n  abcdefgh12\nshort\n', 'abcdefgh12', '\n'])).toEqual([
      '-----BEGIN KEY-----',
      'abcdefgh12',
    ]);
  });
});
