import { describe, expect, it } from 'vitest';

import { toolAnswer, toolFailure } from '../../../../src/core/tools/answer.js';

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
      { stdout_truncated: true, original_stdout_size: 9, command_id: 'c1' },
    ],
    [
      'a running command',
      { status: 'running', exit_code: null },
      { status: 'running', exit_code: null, command_id: 'c1' },
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
    expect(toolAnswer({ ...RESULT, ...given })).toEqual({ stdout: '', stderr: '', exit_code: 0, ...told });
  });

  it('bytes are text', () => {
    const data = new Uint8Array([0x68, 0x69, 0xff]);
    expect(toolAnswer({ data, offset: 0, size: 3, eof: false })).toEqual({
      data: 'hi\ufffd',
      offset: 0,
      size: 3,
      eof: false,
    });
  });

  it.each([[{ sessions: [] }], [{ enforced: false, action: 'allow' }], [{ command_id: 'c', accepted_bytes: 0 }]])(
    '%j stays as it is',
    (answer) => {
      expect(toolAnswer(answer)).toEqual(answer);
    },
  );

  it('a failure has its code, its message, and details where there are some', () => {
    expect(toolFailure({ code: 'A', message: 'b' })).toEqual({ error: { code: 'A', message: 'b' } });
    expect(toolFailure({ code: 'A', message: 'b', details: { c: 1 } })).toEqual({
      error: { code: 'A', message: 'b', details: { c: 1 } },
    });
  });
});
