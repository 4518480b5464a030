import { createHash } from 'node:crypto';

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { type AuditRecord, type ChainEnd, ChainVerifier, GENESIS, sealRecord } from '../../../../src/core/audit.js';
import { anyCharacter } from '../../../support/code-points.js';

const hash = (text: string) => createHash('sha256').update(text).digest('hex');
const TIME = '2026-01-31T12:00:00.000Z';

/** A chain of so many records, as lines. */
function chain(bodies: readonly object[], from: ChainEnd = GENESIS): string[] {
  let end = from;
  return bodies.map((body) => {
    const sealed = sealRecord(TIME, body, end, hash);
    end = sealed;
    return sealed.line;
  });
}

const five = () => chain([1, 2, 3, 4, 5].map((number) => ({ event: 'request', details: { number } })));

/** What a verifier says of each line, up to the first fault: the record's number, or why it is none. */
function verify(lines: readonly string[]): (number | string)[] {
  const verifier = new ChainVerifier(hash);
  const said: (number | string)[] = [];
  for (const line of lines) {
    const record: AuditRecord | string = verifier.take(line);
    said.push(typeof record === 'string' ? record : record.seq);
    if (typeof record === 'string') break;
  }
  return said;
}

/** A line with a text in it changed and its own hash made to fit, as somebody would who knows how it is made. */
function forge(line: string, from: string, to: string): string {
  const before = `${line.slice(0, line.lastIndexOf(',"hash":'))}}`.replace(from, to);
  return `${before.slice(0, -1)},"hash":"${hash(before)}"}`;
}

describe('a chain of records', () => {
  it('numbers them from 1 and is in order', () => {
    expect(verify(five())).toEqual([1, 2, 3, 4, 5]);
  });

  it('has the fields of an event between number and hash', () => {
    const [line = ''] = chain([{ event: 'gap', details: { lost: 3 } }]);
    expect(JSON.parse(line)).toMatchObject({
      seq: 1,
      time: TIME,
      event: 'gap',
      details: { lost: 3 },
      prev: GENESIS.hash,
    });
  });

  it('goes on in another file, and may begin with any number when older files are gone', () => {
    expect(verify(five().slice(2))).toEqual([3, 4, 5]);
  });

  it.each<[string, (lines: string[]) => string[], (number | string)[]]>([
    [
      'a changed text',
      (lines) => lines.with(2, lines[2]!.replace('"number":3', '"number":9')),
      [1, 2, 'it was changed: its hash does not fit its text'],
    ],
    [
      'a changed text with a hash that fits',
      (lines) => lines.with(2, forge(lines[2]!, '"number":3', '"number":9')),
      [1, 2, 3, 'it does not follow the record before it'],
    ],
    ['a removed record', (lines) => lines.toSpliced(1, 1), [1, 'it is record 3, and 2 should be here']],
    [
      'two that changed places',
      (lines) => [lines[0]!, lines[2]!, lines[1]!, lines[3]!],
      [1, 'it is record 3, and 2 should be here'],
    ],
    [
      'one that is there twice',
      (lines) => lines.toSpliced(1, 0, lines[0]!),
      [1, 'it is record 1, and 2 should be here'],
    ],
    ['half a line', (lines) => lines.with(3, lines[3]!.slice(0, 40)), [1, 2, 3, 'it is no record']],
    ['an empty line', (lines) => lines.toSpliced(2, 0, ''), [1, 2, 'it is no record']],
    [
      'a first record that follows none',
      (lines) => lines.with(0, forge(lines[0]!, GENESIS.hash, 'f'.repeat(64))),
      ['it does not follow the record before it'],
    ],
  ])('shows %s', (_what, tamper, expected) => {
    expect(verify(tamper(five()))).toEqual(expected);
  });

  it('does not show that its end was cut off: that is what the head file is for', () => {
    expect(verify(five().slice(0, 3))).toEqual([1, 2, 3]);
  });

  it('holds for every text', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: anyCharacter }), { maxLength: 5 }), (texts) => {
        const lines = chain(texts.map((command) => ({ event: 'command_started', command })));
        expect(lines.every((line) => !line.includes('\n'))).toBe(true);
        expect(verify(lines)).toEqual(texts.map((_text, index) => index + 1));
      }),
    );
  });

  it('shows whatever single character is changed', () => {
    fc.assert(
      fc.property(fc.nat(), fc.constantFrom('0', 'x', '"', ' '), (position, character) => {
        const lines = five();
        const line = lines[1]!;
        const at = position % line.length;
        fc.pre(line[at] !== character);
        const said = verify(lines.with(1, line.slice(0, at) + character + line.slice(at + 1)));
        expect(said.at(-1)).toBeTypeOf('string');
      }),
    );
  });
});
