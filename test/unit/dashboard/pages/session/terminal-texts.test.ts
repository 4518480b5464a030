import { describe, expect, it } from 'vitest';

import { CommandHistory } from '../../../../../src/dashboard/pages/session/controls.js';
import { endLine, startLine } from '../../../../../src/dashboard/pages/session/terminal/session-watcher.js';
import { InputQueue } from '../../../../../src/dashboard/pages/session/terminal/terminal-model.js';
import {
  parseGapLink,
  renderGap,
  renderOutput,
} from '../../../../../src/dashboard/pages/session/terminal/render-piece.js';
import { type OutputPiece, TextLog } from '../../../../../src/dashboard/pages/session/terminal/screen-feed.js';

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (data: Uint8Array) => new TextDecoder().decode(data);

const output = (data: string, stream: OutputPiece['stream'] = 'stdout'): OutputPiece => ({
  kind: 'output',
  commandId: 'c:1',
  stream,
  offset: 0,
  data: bytes(data),
});

describe('what the terminal is given', () => {
  it('returns the carriage for output that was not written to a terminal, and marks stderr', () => {
    expect(text(renderOutput(output('a\nb\n'), false))).toBe('a\r\nb\r\n');
    expect(text(renderOutput(output('a\n'), true))).toBe('a\n');
    expect(text(renderOutput(output('no\n', 'stderr'), false))).toBe('\u001b[31mno\r\n\u001b[39m');
  });

  it('has a link to the bytes of a gap, and follows no other link', () => {
    const line = text(renderGap({ kind: 'gap', commandId: 'c:1', stream: 'stderr', from: 10, to: 2058 }, false));
    expect(line).toContain('2 KB of stderr not shown');
    const uri = /;;(gap:[\w:./-]+)/.exec(line)?.[1] ?? '';
    expect(parseGapLink(uri)).toEqual({ commandId: 'c:1', stream: 'stderr', offset: 10 });
    expect(parseGapLink('https://example.com/')).toBeUndefined();
    expect(parseGapLink('gap:c/stdout/1/../../x')).toBeUndefined();
  });

  it('shows the controls of a command as symbols', () => {
    expect(startLine({ command: 'echo \u001b[2J\nrm x' })).toContain('echo ␛[2J⏎ rm x');
    expect(endLine({ exit_code: 0, status: 'completed', killed_by: null, duration_ms: 5 })).toBe('');
    expect(endLine({ exit_code: 124, status: 'timed_out', killed_by: 'timeout', duration_ms: 5000 })).toContain(
      '✗ exit 124 timed out by timeout',
    );
  });
});

describe('output as text', () => {
  it('has lines without control sequences, by their source', () => {
    const log = new TextLog();
    log.add({ kind: 'mark', commandId: 'c', text: '\u001b[1m❯ make\u001b[0m' });
    log.add(output('10 %\r20 %\r100 %\nhal'));
    log.add(output('f\n'));
    log.add(output('\u001b[31mwrong\u001b[0m\n', 'stderr'));
    log.add({ kind: 'gap', commandId: 'c', stream: 'stdout', from: 0, to: 1024 });
    expect(log.lines().map(({ source, text: line }) => [source, line])).toEqual([
      ['command', '❯ make'],
      ['stdout', '100 %'],
      ['stdout', 'half'],
      ['stderr', 'wrong'],
      ['gap', '1 KB of stdout not shown'],
    ]);
  });
});

describe('typed keys', () => {
  it('are sent in order, one request at a time, joined meanwhile', async () => {
    const sent: string[] = [];
    let release: () => void = () => undefined;
    const queue = new InputQueue(
      (data) => {
        sent.push(data);
        return new Promise<void>((resolve) => (release = resolve));
      },
      () => undefined,
    );
    for (const key of 'abc') queue.type(key);
    expect(sent).toEqual(['a']);
    release();
    await expect.poll(() => sent).toEqual(['a', 'bc']);
  });

  it('are dropped when the request before has failed', async () => {
    const problems: unknown[] = [];
    const queue = new InputQueue(
      () => Promise.reject(new Error('nothing runs')),
      (error) => problems.push(error),
    );
    queue.type('a');
    queue.type('b');
    await expect.poll(() => problems).toHaveLength(1);
  });
});

it('the history of commands moves as that of a shell', () => {
  const history = new CommandHistory();
  for (const command of ['one', 'two', 'two']) history.add(command);
  expect(history.move(-1, 'draft')).toBe('two');
  expect(history.move(-1, 'two')).toBe('one');
  expect(history.move(-1, 'one')).toBe('one');
  expect(history.move(1, 'one')).toBe('two');
  expect(history.move(1, 'two')).toBe('draft');
});
