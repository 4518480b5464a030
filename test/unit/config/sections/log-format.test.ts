import { describe, expect, it } from 'vitest';
import { parseLogFormat } from '../../../../src/config/sections/records.js';

const field = (name: string, facts: object = {}) => ({
  field: name,
  conversion: 's',
  width: 0,
  precision: undefined,
  align: 'right',
  fill: ' ',
  ...facts,
});

describe('a log format', () => {
  it.each([
    ['%(message)s', [field('message')]],
    ['a %(name)s b', ['a ', field('name'), ' b']],
    ['%(name)s%(message)s', [field('name'), field('message')]],
    ['100%% %(message)s', ['100', '%', ' ', field('message')]],
    ['%%(name)s %(message)s', ['%', '(name)s ', field('message')]],
    ['%(levelname)-8s', [field('levelname', { width: 8, align: 'left' })]],
    ['%(levelname)8.3s', [field('levelname', { width: 8, precision: 3 })]],
    ['%(process)06d', [field('process', { conversion: 'd', width: 6, fill: '0' })]],
    ['%(process)-06d', [field('process', { conversion: 'd', width: 6, align: 'left' })]],
    ['%(process)s', [field('process')]],
    ['%(created).3f', [field('created', { conversion: 'f', precision: 3 })]],
    ['%(msecs)03d\t|', [field('msecs', { conversion: 'd', width: 3, fill: '0' }), '\t|']],
  ])('%j is read as Python reads it', (text, expected) => {
    expect(parseLogFormat(text)).toEqual(expected);
  });

  it.each([
    [
      '%(msg)s',
      'has the unknown field "msg". The fields are %(asctime), %(created), %(levelname), %(levelno), %(message), %(msecs), %(name), %(process), each with',
    ],
    ['%()s', 'has the unknown field ""'],
    ['%(toString)s', 'has the unknown field "toString"'],
    ['', 'names no field'],
    ['{message}', 'names no field'],
    ['100% %(message)s', 'has a "%" that starts no field'],
    ['%(message)s %', 'has a "%" that starts no field'],
    ['%(message', 'has a "%" that starts no field'],
    ['%s', 'has a "%" that starts no field'],
    ['%(message)', 'has "%(message)", which does not end in s, d or f'],
    ['%(message)x', 'has "%(message)x", which does not end in s, d or f'],
    ['%(message)d', 'has "%(message)d", but message is text: it is written %(message)s'],
    ['%(message)s\nnext', 'must be one line'],
  ])('%j is refused', (text, expected) => {
    expect(parseLogFormat(text)).toEqual({ problem: expect.stringContaining(expected) as unknown });
  });
});
