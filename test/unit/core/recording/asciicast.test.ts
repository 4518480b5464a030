import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  durationOf,
  markerLabel,
  parseCast,
  promptLine,
  renderEvent,
  renderHeader,
  TerminalText,
} from '../../../../src/core/recording.js';
import { anyCharacter } from '../../../support/code-points.js';

const HEADER = { version: 2, width: 80, height: 24, timestamp: 1_700_000_000 } as const;

describe('the format', () => {
  it('is that of asciicast v2', () => {
    expect(renderHeader(HEADER)).toBe('{"version":2,"width":80,"height":24,"timestamp":1700000000}\n');
    expect(renderEvent(1.23456, 'o', 'a\r\n\u001b[1m"')).toBe(String.raw`[1.235,"o","a\r\n\u001b[1m\""]` + '\n');
  });

  it('gives back what was written', () => {
    const events = fc.array(
      fc.tuple(
        fc.nat().map((ms) => ms / 1000),
        fc.constantFrom('o', 'i', 'm', 'r', 'x'),
        fc.string({ unit: anyCharacter }),
      ),
    );
    fc.assert(
      fc.property(events, (written) => {
        const text = renderHeader(HEADER) + written.map((event) => renderEvent(...event)).join('');
        const cast = parseCast(text);
        expect(cast).toEqual({ header: HEADER, events: written });
        expect(durationOf(cast)).toBe(written.at(-1)?.[0] ?? 0);
      }),
    );
  });

  it('is read up to a torn last line, wherever it is torn', () => {
    const whole = renderHeader(HEADER) + renderEvent(1, 'o', 'one');
    const last = renderEvent(2, 'o', 'two, with ü');
    for (let length = 0; length < last.length - 1; length += 1) {
      expect(parseCast(whole + last.slice(0, length)).events).toEqual([[1, 'o', 'one']]);
    }
  });

  it.each([
    ['', 'line 1 is not the header of an asciicast file of version 2'],
    ['{"version":1,"width":80,"height":24}\n', 'line 1 is not the header'],
    ['{"version":2,"width":0,"height":24}\n', 'line 1 is not the header'],
    [`${renderHeader(HEADER)}[-1,"o","x"]\n`, 'line 2 is not an event'],
    [`${renderHeader(HEADER)}[1,"o","x"]\nnonsense\n[2,"o","y"]\n`, 'line 3 is not an event'],
  ])('%j is refused', (text, message) => {
    expect(() => parseCast(text)).toThrow(message);
  });
});

describe('what a player shows of a command', () => {
  it.each([
    ['make test', 'make test', '\x1b[1m$\x1b[0m make test\r\n'],
    ['a\nb\r\nc', 'a b c', '\x1b[1m$\x1b[0m a\r\n> b\r\n> c\r\n'],
    ['echo \x1b[2J\x07', 'echo \ufffd[2J\ufffd', '\x1b[1m$\x1b[0m echo \ufffd[2J\ufffd\r\n'],
  ])('%j', (command, label, prompt) => {
    expect(markerLabel(command)).toBe(label);
    expect(promptLine(command)).toBe(prompt);
  });

  it('is a short label', () => {
    expect(markerLabel('x'.repeat(1000))).toBe(`${'x'.repeat(199)}…`);
  });
});

it('output of pipes gets carriage returns, wherever it is cut', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '\r', '\n') });
  fc.assert(
    fc.property(text, fc.nat(), (output, where) => {
      const at = where % (output.length + 1);
      const terminal = new TerminalText();
      const converted = terminal.convert(output.slice(0, at)) + terminal.convert(output.slice(at));
      expect(converted).toBe(output.replaceAll(/\r?\n/gu, '\r\n'));
    }),
  );
});
