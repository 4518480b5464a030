import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';

import { AnsiStripper, sequenceAround, stripAnsi } from '../../../../src/core/output/ansi.js';
import { BEL, decodeAll, ESC, ST, streams, toBytes } from './byte-streams.js';

const SEQUENCES = {
  'a colour': `${ESC}[31m`,
  'a reset without parameters': `${ESC}[m`,
  'a 24-bit colour with colons': `${ESC}[38:2::255:0:0m`,
  'a private mode': `${ESC}[?25h`,
  'a CSI with an intermediate': `${ESC}[2 q`,
  'an erase': `${ESC}[2K`,
  'a title ended by BEL': `${ESC}]0;my title${BEL}`,
  'a title ended by ST': `${ESC}]0;títle${ST}`,
  'a link': `${ESC}]8;;https://x.y/?a=b${ST}`,
  'a device control string': `${ESC}P1$r0m${ST}`,
  'an application command': `${ESC}_Ga=q;AAAA${ST}`,
  'a character set switch': `${ESC}(B`,
  'a cursor save': `${ESC}7`,
  'a keypad mode': `${ESC}=`,
  'a full reset': `${ESC}c`,
  'a string terminator alone': ST,
};

describe('stripAnsi', () => {
  test.each(Object.entries(SEQUENCES))('leaves out %s', (_name, sequence) => {
    expect(stripAnsi(`a${sequence}b${sequence}${sequence}`)).toBe('ab');
  });

  test.each([
    { text: 'plain [31m text', stripped: 'plain [31m text', title: 'text that only looks like a sequence' },
    { text: `a${ESC}\nb`, stripped: 'a\nb', title: 'an ESC before a control character goes alone' },
    { text: `a${ESC}[3\nb`, stripped: 'a[3\nb', title: 'a CSI that a line feed breaks off' },
    {
      text: `${ESC}]0;never ended\nnext${BEL}`,
      stripped: `]0;never ended\nnext${BEL}`,
      title: 'a title without an end',
    },
    { text: `a${ESC}[38;5`, stripped: 'a', title: 'a CSI that is unfinished at the end' },
    { text: `a${ESC}]0;tit`, stripped: 'a', title: 'a title that is unfinished at the end' },
    { text: `a${ESC}]0;tit${ESC}`, stripped: 'a', title: 'a title in the middle of its ST' },
    { text: `a${ESC}`, stripped: 'a', title: 'an ESC at the end' },
    { text: `${ESC}${ESC}[1mx`, stripped: 'x', title: 'an ESC before a sequence' },
    { text: `${ESC}]0;${'x'.repeat(5000)}${BEL}y`, stripped: 'y', title: 'a long string that is terminated' },
  ])('$title', ({ text, stripped }) => {
    expect(stripAnsi(text)).toBe(stripped);
  });

  it('leaves no ESC in any text, and text without one as it is', () => {
    fc.assert(
      fc.property(streams.map(decodeAll), (text) => {
        expect(stripAnsi(text)).not.toContain(ESC);
        const plain = text.replaceAll(ESC, '');
        expect(stripAnsi(plain)).toBe(plain);
      }),
    );
  });
});

describe('sequenceAround', () => {
  test.each(Object.entries(SEQUENCES))('finds %s around every cut inside it', (_name, sequence) => {
    const bytes = toBytes(`é${sequence}zz`);
    const start = 2;
    const end = start + toBytes(sequence).length;
    for (let cut = 0; cut <= bytes.length; cut++) {
      const isInside = cut > start && cut < end;
      expect(sequenceAround(bytes, cut)).toEqual(isInside ? { start, end } : undefined);
    }
  });

  it('does not take a sequence of more than 256 characters for one', () => {
    const title = (characters: number) => toBytes(`${ESC}]${'漢'.repeat(characters - 3)}${BEL}`);
    expect(sequenceAround(title(256), 1)).toEqual({ start: 0, end: title(256).length });
    expect(sequenceAround(title(256), title(256).length - 1)).toEqual({ start: 0, end: title(256).length });
    expect(sequenceAround(title(257), 1)).toBeUndefined();
  });

  it('does not take an unterminated one', () => {
    expect(sequenceAround(toBytes(`${ESC}]0;title`), 4)).toBeUndefined();
    expect(sequenceAround(toBytes(`${ESC}[31`), 3)).toBeUndefined();
  });
});

describe('a text that comes in pieces', () => {
  const strip = (pieces: readonly string[]) => {
    const stripper = new AnsiStripper();
    return pieces.map((piece) => stripper.push(piece)).join('');
  };

  it.each(Object.entries(SEQUENCES))('loses %s, wherever it is cut', (_, sequence) => {
    const text = `one ${sequence}two`;
    for (let at = 0; at <= text.length; at += 1) {
      expect(strip([text.slice(0, at), text.slice(at)])).toBe('one two');
    }
    expect(strip(Array.from(text))).toBe('one two');
  });

  it('is given out as it comes where there is no sequence', () => {
    const stripper = new AnsiStripper();
    expect(['a', '', '\n', 'b'].map((piece) => stripper.push(piece))).toEqual(['a', '', '\n', 'b']);
  });

  it('is not held back for a sequence without an end', () => {
    const stripper = new AnsiStripper();
    let length = 0;
    for (let round = 0; round < 2000; round += 1) length += stripper.push(round === 0 ? `${ESC}[` : '1').length;
    expect(length).toBeGreaterThan(1500);
  });
});
