import { describe, expect, it } from 'vitest';

import { judgeRun, type RunFacts } from '../../../../src/core/llm/failure.js';

const facts = (changes: Partial<RunFacts>): RunFacts => ({
  cause: 'exit',
  exitCode: 0,
  failure: undefined,
  failureKind: undefined,
  isFinished: false,
  isText: true,
  text: '',
  noise: '',
  stderr: '',
  exitKinds: { 41: 'auth', 173: 'rate_limited' },
  ...changes,
});

describe('a good run', () => {
  it.each([
    ['text and exit code 0', { text: ' answer\n' }],
    ['noise on stderr', { text: 'answer', stderr: 'Warning: error 500 …' }],
    ['an end that came after the answer', { text: 'answer', isFinished: true, cause: 'finished', exitCode: 143 }],
    ['an answer just before the time-out', { text: 'answer', isFinished: true, cause: 'timeout', exitCode: 124 }],
    ['a limit after the answer', { text: 'answer', isFinished: true, cause: 'limit', exitCode: 137 }],
    ['text, and a closed output', { text: 'answer', cause: 'closed', exitCode: 143 }],
    ['a crash after the answer', { text: 'answer', isFinished: true, exitCode: 139 }],
  ] as const)('%s', (_title, changes) => {
    expect(judgeRun(facts(changes))).toEqual({ ok: true, content: 'answer' });
  });
});

describe('a bad run', () => {
  it.each([
    ['what the tool says, with exit code 0', { failure: 'it broke', text: 'x' }, 'failed', 'it broke'],
    [
      'the structured error tells the reason',
      { failure: 'no', failureKind: 'rate_limited', exitCode: 41 },
      'rate_limited',
      'no',
    ],
    ['the text of an error is not searched for words', { failure: 'API Error: 401' }, 'failed', 'API Error: 401'],
    [
      'a line number is no status',
      { exitCode: 3, stderr: 'Error: parse error at line 429' },
      'failed',
      'Error: parse error at line 429',
    ],
    ['a full disk is no rate limit', { exitCode: 1, stderr: 'disk quota exceeded' }, 'failed', 'disk quota exceeded'],
    [
      'a large file is no large prompt',
      { exitCode: 2, stderr: 'tar: file too large' },
      'failed',
      'tar: file too large',
    ],
    ['the exit code tells the reason', { failure: 'unknown', exitCode: 173 }, 'rate_limited', 'unknown'],
    [
      'an exit code, the reason on stdout',
      { exitCode: 1, text: 'Not logged in', stderr: 'noise' },
      'failed',
      'Not logged in\nnoise',
    ],
    ['an exit code, the reason on stderr', { exitCode: 41, stderr: 'Invalid method\n' }, 'auth', 'Invalid method'],
    ['an exit code above 128', { exitCode: 144, stderr: 'at x.js' }, 'failed', 'at x.js'],
    ['noise before stderr', { exitCode: 1, noise: 'help', stderr: 'quota' }, 'failed', 'help\nquota'],
    ['nothing at all', {}, 'empty', ''],
    ['nothing but blanks', { text: ' \n', stderr: 'too large' }, 'empty', 'too large'],
    ['an empty answer', { isFinished: true, text: '' }, 'empty', ''],
    ['a time-out', { cause: 'timeout', exitCode: 124, text: 'half' }, 'timeout', 'half'],
    ['silence', { cause: 'idle', exitCode: 124 }, 'timeout', ''],
    ['a cancelled run, whatever it printed', { cause: 'cancelled', text: 'x', isFinished: true }, 'cancelled', 'x'],
    ['a limit, whatever it printed', { cause: 'limit', exitCode: 137, text: 'half' }, 'limit', 'half'],
    ['half of an answer in events, with exit code 0', { isText: false, text: 'half' }, 'failed', 'half'],
    [
      'half of an answer in events, and a closed output',
      { cause: 'closed', isText: false, text: 'half' },
      'failed',
      'half',
    ],
    ['a closed output without an answer', { cause: 'closed', exitCode: 143, stderr: 'why' }, 'empty', 'why'],
    ['a flood', { cause: 'flood', noise: 'y' }, 'failed', 'y'],
  ] as const)('%s', (_title, changes, kind, detail) => {
    expect(judgeRun(facts(changes))).toMatchObject({ ok: false, kind, detail });
  });
});
