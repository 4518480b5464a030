import { describe, expect, test, vi } from 'vitest';

import { CommandOutput } from '../../../../src/client/command-output.js';
import { EventRouter, SequenceTracker } from '../../../../src/client/event-router.js';
import type { EventName } from '../../../../src/core/protocol/results.js';

/** A router with one followed session, and what its listeners hear. */
function makeRouter() {
  const shutdowns: string[] = [];
  const heard: (readonly [EventName, unknown])[] = [];
  const router = new EventRouter((reason) => shutdowns.push(reason));
  for (const name of ['command_output', 'output_gap', 'session_closed', 'server_shutdown'] as const) {
    router.listeners.add(name, (payload) => heard.push([name, payload]));
  }
  router.followSession({ id: 's', sequence: new SequenceTracker(0) });
  return { router, heard, shutdowns };
}

const outputEvent = (seq: number, session: string | null = 's') => ({
  command_id: 'c',
  session_id: session,
  stream: 'stdout',
  seq,
  offset: seq,
  data: 'x',
});

describe('a session whose node loses its connection', () => {
  const at = { session_id: 's', node: 'worker-1' };

  test('is followed further, and has its gap told once', () => {
    const { router, heard } = makeRouter();
    router.route('command_output', outputEvent(0));
    router.route('session_detached', { ...at, code: 'NODE_UNREACHABLE' });
    expect(router.session('s')?.isReachable).toBe(false);
    router.route('command_output', outputEvent(4));
    router.route('session_reattached', { ...at, next_seq: 5, gap: { from_seq: 1, to_seq: 3 } });
    expect(router.session('s')?.isReachable).toBe(true);
    expect(heard.filter(([name]) => name === 'output_gap')).toEqual([
      ['output_gap', { session_id: 's', from_seq: 1, to_seq: 3 }],
    ]);
  });

  test('is not known to a client that does not follow it', () => {
    const { router } = makeRouter();
    router.route('session_detached', { ...at, session_id: 'other', code: 'NODE_UNREACHABLE' });
    expect(router.session('other')).toBeUndefined();
    expect(router.session('s')?.isReachable).toBe(true);
  });
});

describe('events', () => {
  test('of a followed session come once', () => {
    const { router, heard } = makeRouter();
    for (const seq of [0, 1, 1, 0, 2]) router.route('command_output', outputEvent(seq));
    expect(heard.map(([, payload]) => (payload as { seq: number }).seq)).toEqual([0, 1, 2]);
  });

  test('of other sessions and of one-shots come as they are', () => {
    const { router, heard } = makeRouter();
    for (const session of ['other', null]) {
      router.route('command_output', outputEvent(3, session));
      router.route('command_output', outputEvent(3, session));
    }
    expect(heard).toHaveLength(4);
  });

  test('that are missing are announced in front of the next, once', () => {
    const { router, heard } = makeRouter();
    router.route('command_output', outputEvent(0));
    router.route('command_output', outputEvent(4));
    router.noteGap('s', 3);
    router.route('output_gap', { session_id: 's', from_seq: 1, to_seq: 3 });
    expect(heard.map(([name]) => name)).toEqual(['command_output', 'output_gap', 'command_output']);
    expect(heard[1]?.[1]).toEqual({ session_id: 's', from_seq: 1, to_seq: 3 });
  });

  test('that are announced as left out are passed on, and do not count as missing again', () => {
    const { router, heard } = makeRouter();
    router.route('output_gap', { session_id: 's', from_seq: 0, to_seq: 3 });
    router.route('command_output', outputEvent(4));
    router.route('output_gap', { session_id: null, from_seq: 2, to_seq: 3 });
    expect(heard.map(([name]) => name)).toEqual(['output_gap', 'command_output', 'output_gap']);
  });

  test('reach the output of their command, and its gaps those of its session', () => {
    const { router } = makeRouter();
    const [inSession, alone] = ['s', null].map((sessionId, index) => {
      const output = new CommandOutput(() => Promise.reject(new Error('not asked')));
      router.followCommand(`c${index || ''}`, sessionId, output);
      return { push: vi.spyOn(output, 'push'), noteGap: vi.spyOn(output, 'noteGap'), output };
    });
    router.route('command_output', outputEvent(0));
    expect(inSession?.push).toHaveBeenCalledExactlyOnceWith({ stream: 'stdout', offset: 0, data: 'x' });
    expect(alone?.push).not.toHaveBeenCalled();
    router.route('output_gap', { session_id: 's', from_seq: 1, to_seq: 3 });
    expect([inSession?.noteGap.mock.calls.length, alone?.noteGap.mock.calls.length]).toEqual([1, 0]);
    router.route('output_gap', { session_id: null, from_seq: 1, to_seq: 3 });
    expect([inSession?.noteGap.mock.calls.length, alone?.noteGap.mock.calls.length]).toEqual([1, 1]);
    router.leaveCommand('c');
    router.route('command_output', outputEvent(4));
    expect(inSession?.push).toHaveBeenCalledOnce();
  });

  test('after a reconnection, outputs outside of the followed sessions are to be read', () => {
    const { router } = makeRouter();
    const spies = ['s', 'gone', null].map((sessionId) => {
      const output = new CommandOutput(() => Promise.reject(new Error('not asked')));
      router.followCommand(String(sessionId), sessionId, output);
      return vi.spyOn(output, 'noteUnfollowed');
    });
    router.noteUnfollowed(new Set(['s']));
    expect(spies.map(({ mock }) => mock.calls.length)).toEqual([0, 1, 1]);
  });

  test('of the end of a session or the daemon are passed on and acted on', () => {
    const { router, heard, shutdowns } = makeRouter();
    router.route('session_closed', { session_id: 's', reason: 'idle', detail: '' });
    router.route('server_shutdown', { reason: 'SIGTERM', grace_ms: 1 });
    expect(router.sessions).toEqual([]);
    expect(shutdowns).toEqual(['SIGTERM']);
    expect(heard.map(([name]) => name)).toEqual(['session_closed', 'server_shutdown']);
  });
});

describe('listeners', () => {
  test('are called until they are removed, each as often as it was added', () => {
    const { router } = makeRouter();
    const listener = vi.fn();
    const remove = router.listeners.add('output_gap', listener);
    router.listeners.add('output_gap', listener);
    router.route('output_gap', { session_id: null, from_seq: 0, to_seq: 0 });
    remove();
    remove();
    router.route('output_gap', { session_id: null, from_seq: 0, to_seq: 0 });
    expect(listener).toHaveBeenCalledTimes(3);
  });

  test('that throw keep nobody else from hearing, and their error comes up', () => {
    const { router, heard } = makeRouter();
    const thrown: (() => void)[] = [];
    const queue = vi.spyOn(globalThis, 'queueMicrotask').mockImplementation((task) => thrown.push(task));
    const faulty = new EventRouter(() => undefined);
    faulty.listeners.add('output_gap', () => {
      throw new Error('a fault of the program');
    });
    faulty.listeners.add('output_gap', (gap) => heard.push(['output_gap', gap]));
    faulty.route('output_gap', { session_id: null, from_seq: 0, to_seq: 0 });
    queue.mockRestore();
    expect(heard).toHaveLength(1);
    expect(thrown[0]).toThrow('a fault of the program');
    expect(router.sessions).toHaveLength(1);
  });
});
