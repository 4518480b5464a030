import { getEventListeners } from 'node:events';

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { ClientError } from '../../../../src/client/errors.js';
import {
  isRepeatable,
  type PendingRequest,
  PendingRequests,
} from '../../../../src/client/connection/pending-requests.js';
import { type RequestName, requests } from '../../../../src/core/protocol/requests.js';

const lost = new ClientError('CONNECTION_LOST', 'gone');

function makeSettle() {
  const answers: unknown[] = [];
  const errors: unknown[] = [];
  return {
    answers,
    errors,
    settle: { resolve: (answer: unknown) => answers.push(answer), reject: (error: unknown) => errors.push(error) },
  };
}

describe('after a lost connection', () => {
  const repeatable: readonly RequestName[] = [
    'execute_command',
    'check_command',
    'watch_resources',
    'cancel_llm',
    'list_remembered_approvals',
    'shell_metadata',
    'daemon_status',
    'wait_command',
    'read_output',
    'list_sessions',
    'list_confirmations',
    'get_session',
    'attach_session',
    'resize_terminal',
    'list_checkpoints',
    'diff_workspace',
    'list_llm_providers',
    'search_output',
    'read_screen',
    'list_llm_calls',
    'read_audit',
    'verify_audit',
    'list_tokens',
    'examine_machine',
    'list_commands',
    'detach_session',
    'describe_access',
    'subscribe',
    'host_history',
    'list_recordings',
    'read_recording',
    'read_file',
    'list_directory',
    'stat_path',
    'find_files',
    'search_files',
    'wait_for',
    'list_ports',
    'preview_port',
    'list_nodes',
  ];

  test.each(Object.keys(requests) as RequestName[])('%s is repeated only if that does no harm', (name) => {
    const payload = { command_id: 'c' };
    expect(isRepeatable({ name, payload, isBound: false })).toBe(repeatable.includes(name));
    expect(isRepeatable({ name, payload, isBound: true })).toBe(false);
  });

  test('a request that only a newer daemon knows is not repeated', () => {
    expect(isRepeatable({ name: 'of_a_newer_daemon' as RequestName, payload: {}, isBound: false })).toBe(false);
  });

  test('a command without an id of its own is not repeated', () => {
    expect(isRepeatable({ name: 'execute_command', payload: {}, isBound: false })).toBe(false);
  });

  test('what was sent waits to be repeated or is rejected, what was not sent just waits', () => {
    const pending = new PendingRequests();
    const notes = makeSettle();
    const add = (name: RequestName) => pending.add(name, {}, { timeoutMs: Infinity }, notes.settle);
    const wait = add('wait_command');
    const input = add('send_input');
    const later = add('send_input');
    wait.isSent = true;
    input.isSent = true;
    pending.connectionLost(lost, true);
    expect(notes.errors).toEqual([lost]);
    expect(pending.unsent()).toEqual([wait, later]);
    expect([wait.mayHaveArrived, later.mayHaveArrived]).toEqual([true, false]);
  });

  test('nothing is repeated to a daemon that has said good-bye', () => {
    const pending = new PendingRequests();
    const notes = makeSettle();
    const request = pending.add('wait_command', {}, { timeoutMs: Infinity }, notes.settle);
    request.isSent = true;
    pending.connectionLost(lost, false);
    expect(notes.errors).toEqual([lost]);
    expect(pending.unsent()).toEqual([]);
  });
});

describe('after the loss of a node', () => {
  const nodeLost = (isSafe: boolean) => ({ code: 'NODE_LOST', message: '', details: { retry_safe: isSafe } }) as const;

  test('a request is repeated that changes nothing, while it waits', () => {
    const pending = new PendingRequests();
    const request = pending.add('get_session', {}, { timeoutMs: Infinity }, makeSettle().settle);
    expect(pending.isRepeatedAfter(request, nodeLost(true))).toBe(true);
    expect(pending.isRepeatedAfter(request, nodeLost(false))).toBe(false);
    expect(pending.isRepeatedAfter(request, { ...nodeLost(true), code: 'NODE_UNREACHABLE' })).toBe(false);
    request.resolve({});
    expect(pending.isRepeatedAfter(request, nodeLost(true))).toBe(false);
  });

  test.each([
    ['send_input', false],
    ['get_session', true],
  ] as const)('%s (bound: %s) is not repeated, as after a lost connection', (name, isBound) => {
    const pending = new PendingRequests();
    const request = pending.add(name, {}, { timeoutMs: Infinity, isBound }, makeSettle().settle);
    expect(pending.isRepeatedAfter(request, nodeLost(true))).toBe(false);
  });
});

describe('a request', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const addTo = (
    pending: PendingRequests,
    notes: ReturnType<typeof makeSettle>,
    options: Parameters<PendingRequests['add']>[2],
  ): PendingRequest => pending.add('list_sessions', {}, options, notes.settle);

  test('is settled once, and leaves no timer or listener', () => {
    const notes = makeSettle();
    const pending = new PendingRequests();
    const { signal } = new AbortController();
    const request = addTo(pending, notes, { timeoutMs: 1000, signal });
    request.resolve('answer');
    request.resolve('again');
    request.reject(lost);
    expect(notes).toMatchObject({ answers: ['answer'], errors: [] });
    expect(vi.getTimerCount()).toBe(0);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(pending.unsent()).toEqual([]);
  });

  test('that is not answered in time is rejected', () => {
    const notes = makeSettle();
    addTo(new PendingRequests(), notes, { timeoutMs: 1000 });
    vi.advanceTimersByTime(1000);
    expect(notes.errors).toMatchObject([{ code: 'REQUEST_TIMEOUT', details: { request: 'list_sessions' } }]);
  });

  test('without a limit has no timer', () => {
    addTo(new PendingRequests(), makeSettle(), { timeoutMs: Infinity });
    expect(vi.getTimerCount()).toBe(0);
  });

  test('that is aborted is rejected with the reason', () => {
    const notes = makeSettle();
    const abort = new AbortController();
    addTo(new PendingRequests(), notes, { timeoutMs: 1000, signal: abort.signal }).isSent = true;
    abort.abort('enough');
    expect(notes.errors).toEqual(['enough']);
  });

  test.each([
    { title: 'is rejected as long as it was not sent', isSent: false, mayHaveArrived: false, rejected: true },
    { title: 'stays once it was sent', isSent: true, mayHaveArrived: false, rejected: false },
    {
      title: 'stays when an earlier connection may have brought it',
      isSent: false,
      mayHaveArrived: true,
      rejected: false,
    },
  ])('for a command, when aborted, $title', ({ isSent, mayHaveArrived, rejected }) => {
    const notes = makeSettle();
    const abort = new AbortController();
    const options = { timeoutMs: 1000, signal: abort.signal, abortsUnsentOnly: true };
    Object.assign(addTo(new PendingRequests(), notes, options), { isSent, mayHaveArrived });
    abort.abort('enough');
    expect(notes.errors).toEqual(rejected ? ['enough'] : []);
  });
});
