import { describe, expect, it } from 'vitest';

import { CLIENT_ERRORS, ERROR_CATALOGUE } from '../../../../src/core/error-catalogue.js';
import { type CallFacts, toolAnswer, toolFailure } from '../../../../src/core/tools/answer.js';

const FACTS: CallFacts = { tool: 'run_command', payload: {}, has: () => true };
const RUN_ALONE: CallFacts = { ...FACTS, has: (name) => name === 'run_command' };
/** What `next` of an answer is. */
const anyNext = { next: expect.any(String) as string };

const RESULT = {
  stdout: '',
  stderr: '',
  exit_code: 0,
  original_stdout_size: 0,
  original_stderr_size: 0,
  command_id: 'c1',
  session_id: null,
  status: 'completed',
  signal: null,
  timed_out: false,
  killed_by: null,
  duration_ms: 1.5,
  working_directory: null,
  stdout_truncated: false,
  stderr_truncated: false,
  stdout_bytes: 0,
  stderr_bytes: 0,
  encoding: 'utf8',
  lossy: false,
  session_state: null,
  background_processes: [],
  warnings: [],
};

describe('what a model reads of an answer', () => {
  it.each([
    ['a plain result', {}, {}],
    [
      'one in a session',
      { session_id: 's', session_state: 'alive', working_directory: '/w' },
      { session_id: 's', working_directory: '/w' },
    ],
    ['a shell that was replaced', { session_state: 'restarted' }, { session_state: 'restarted' }],
    [
      'a trimmed output',
      { stdout_truncated: true, original_stdout_size: 9 },
      { stdout_truncated: true, original_stdout_size: 9, command_id: 'c1', ...anyNext },
    ],
    [
      'a running command',
      { status: 'running', exit_code: null },
      { status: 'running', exit_code: null, command_id: 'c1', ...anyNext },
    ],
    [
      'an end before its time',
      { status: 'killed', killed_by: 'memory', exit_code: 137 },
      { status: 'killed', killed_by: 'memory', exit_code: 137 },
    ],
    [
      'jobs left',
      { background_processes: [{ pid: 1, command: 'x' }] },
      { background_processes: [{ pid: 1, command: 'x' }] },
    ],
    ['what was no text', { lossy: true }, { lossy: true }],
    ['warnings', { warnings: [{ code: 'W', message: 'm' }] }, { warnings: [{ code: 'W', message: 'm' }] }],
  ])('%s', (_, given, told) => {
    expect(toolAnswer({ ...RESULT, ...given }, FACTS)).toEqual({ stdout: '', stderr: '', exit_code: 0, ...told });
  });

  it('bytes are text', () => {
    const data = new Uint8Array([0x68, 0x69, 0xff]);
    expect(toolAnswer({ data, offset: 0, size: 3, eof: true }, FACTS)).toEqual({
      data: 'hi\ufffd',
      offset: 0,
      size: 3,
      eof: true,
    });
  });

  it.each([[{ sessions: [] }], [{ enforced: false, action: 'allow' }], [{ command_id: 'c', accepted_bytes: 0 }]])(
    '%j stays as it is',
    (answer) => {
      expect(toolAnswer(answer, FACTS)).toEqual(answer);
    },
  );

  it('how it stands comes first, then what to do, and long fields last: clients cut the end', () => {
    const answer = { ...RESULT, status: 'running', exit_code: null, stdout: 'x', working_directory: '/w' };
    const names = Object.keys(toolAnswer(answer, FACTS));
    expect(names).toEqual(['status', 'exit_code', 'next', 'command_id', 'working_directory', 'stdout', 'stderr']);
  });

  it('a failure has its code, its message, what to do, and details that the message does not say', () => {
    expect(toolFailure({ code: 'SESSION_NOT_FOUND', message: 'b' }, FACTS)).toEqual({
      error: { code: 'SESSION_NOT_FOUND', message: 'b' },
      next: 'Open another session with `open_session`. The state of the old one is lost.',
    });
    const details = { problems: [], reasons: ['r'], class: 'network' };
    expect(toolFailure({ code: 'COMMAND_DENIED', message: 'b', details }, FACTS)).toMatchObject({
      error: { code: 'COMMAND_DENIED', message: 'b', details: { class: 'network' } },
    });
  });

  it('a note comes beside the answer', () => {
    expect(toolAnswer(RESULT, { ...FACTS, note: 'n' })).toMatchObject({ exit_code: 0, note: 'n' });
    expect(toolFailure({ code: 'INTERNAL', message: 'm' }, { ...FACTS, note: 'n' })).toMatchObject({ note: 'n' });
  });
});

describe('what to do next', () => {
  it.each([
    [
      'a time-out of its own',
      { status: 'timed_out', exit_code: 124 },
      { ...FACTS, payload: { timeout_ms: 30 } },
      /time limit of 30 ms.*larger timeout_ms, or execute_command with a session_id and background=true/,
    ],
    [
      'a time-out of the daemon',
      { status: 'timed_out', duration_ms: 599.7 },
      { ...FACTS, tool: 'wait_command', payload: { timeout_ms: 5 } },
      /time limit of 600 ms/,
    ],
    ['a time-out without sessions', { status: 'timed_out', duration_ms: 1 }, RUN_ALONE, /larger timeout_ms$/],
    [
      'a running command',
      { status: 'running' },
      FACTS,
      /^wait_command\(command_id='c1', timeout_ms=30000\); if it asks for input: type_input\(command_id='c1'/,
    ],
    [
      'a trimmed output',
      { stdout_truncated: true, stdout: 'äö\n[... 92,894 of 108,894 characters left out; read ...]\nend' },
      FACTS,
      /^read_output\(command_id='c1', stream='stdout', offset=4\)$/,
    ],
    [
      'an output trimmed by lines',
      { stdout_truncated: true, original_stdout_lines: 9, stdout: '1\n2\n[... 6 of 9 lines left out; read ...]\n9\n' },
      FACTS,
      /^read_output\(command_id='c1', stream='stdout', from_line=3\)$/,
    ],
    [
      'an output with a cut line before the gap',
      {
        stdout_truncated: true,
        original_stdout_lines: 9,
        stdout: '1\n2\n[... 6 of 9 lines left out, 1 line cut ...]\n',
      },
      FACTS,
      /from_line=2\)$/,
    ],
    [
      'an output with clipped lines',
      { stderr_truncated: true, original_stderr_lines: 2, stderr: 'one\ntw…\n' },
      FACTS,
      /^read_output\(command_id='c1', stream='stderr', from_line=2\)$/,
    ],
    [
      'a running full-screen program',
      { status: 'running' },
      { ...FACTS, payload: { tty: true } },
      /^wait_for\(command_id='c1', screen_stable_ms=500\), then type_input\(command_id='c1', keys=/,
    ],
    ['a wait in vain', { met: false, condition: null }, FACTS, /make the same call again/],
    ['an end before the pattern', { met: false, condition: 'end' }, FACTS, /wait_command gives its result/],
    ['a trimmed output without read_output', { stderr_truncated: true }, RUN_ALONE, /^stderr is only .* tail or grep$/],
    ['a closed session', { session_state: 'closed' }, FACTS, /open_session\(\)/],
    ['a rejected command', { status: 'denied' }, FACTS, /has not run and will not/],
  ])('%s', (_, given, facts, next) => {
    expect(toolAnswer({ ...RESULT, ...given }, facts)).toMatchObject({
      next: expect.stringMatching(next) as string,
    });
  });

  it('a part of an output: where the next one begins', () => {
    const facts = { ...FACTS, payload: { command_id: 'c', stream: 'stderr' } };
    const part = { data: new Uint8Array(7), offset: 3, size: 20, eof: false };
    expect(toolAnswer(part, facts)).toMatchObject({ next: "read_output(command_id='c', stream='stderr', offset=10)" });
  });

  const exact = ['INVALID_REQUEST', 'NO_RUNNING_COMMAND'];
  const entries = Object.entries({ ...ERROR_CATALOGUE, ...CLIENT_ERRORS });
  it.each(entries.filter(([code]) => !exact.includes(code)))('%s: the step of the catalogue', (code, { next }) => {
    expect(toolFailure({ code, message: 'm' }, FACTS)['next']).toBe(next);
  });

  it('of a code that is not known: its message says what is wrong', () => {
    expect(toolFailure({ code: 'FROM_LATER', message: 'm' }, FACTS)['next']).toMatch(/message/);
  });

  it.each([
    ['SESSION_BUSY', { running_command_id: 'c9' }, /wait_command\(command_id='c9'/],
    ['RATE_LIMITED', { retry_after_ms: 250 }, /in 250 ms/],
    ['CONNECTION_LOST', { command_id: 'c9' }, /wait_command\(command_id='c9'\)/],
  ])('%s names what the details say', (code, details, next) => {
    expect(toolFailure({ code, message: 'm', details }, FACTS)['next']).toMatch(next);
  });
});

describe('a command that has to be confirmed', () => {
  const asked = {
    ...RESULT,
    exit_code: null,
    status: 'confirmation_required',
    confirmation_id: `confirmation_${'x'.repeat(22)}`,
    command_sha256: 'a'.repeat(64),
    reasons: ['rm deletes /home/somebody/some/where/else/entirely', 'rm deletes more'],
    commands: [{ command: 'rm', reasons: ['rm deletes'] }],
    requires: 'self',
  };

  it('takes less than 300 characters, with the exact call first of all', () => {
    const answer = toolAnswer(asked, FACTS);
    expect(JSON.stringify(answer).length).toBeLessThan(300);
    expect(Object.keys(answer)).toEqual(['status', 'reasons', 'next']);
    expect(answer['next']).toBe(
      `confirm_command(confirmation_id='${asked.confirmation_id}', command_sha256='${asked.command_sha256}', ` +
        "decision='approve', justification='…')",
    );
  });

  it.each([
    [
      'operator',
      FACTS,
      /the user, by `shell-adapter confirm confirmation_x+` decides: wait_command\(command_id='c1'\)/,
    ],
    ['llm', FACTS, /a model decides/],
    ['self', RUN_ALONE, /the user, by `shell-adapter confirm/],
  ])('that %s confirms', (requires, facts, next) => {
    const answer = toolAnswer({ ...asked, requires }, facts);
    expect(answer['next']).toMatch(next);
    expect(JSON.stringify(answer).length).toBeLessThan(300);
  });
});
