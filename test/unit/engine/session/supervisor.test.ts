import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import type { SessionContext } from '../../../../src/engine/session/session-context.js';
import { Supervisor } from '../../../../src/engine/session/supervisor.js';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** An idle session, and what its supervision has done. */
function idleSession() {
  const done = { saves: 0, examinations: 0 };
  const state = { isSaved: true, hasRequest: false };
  const context = {
    life: { state: { name: 'idle' }, isClosed: false },
    listener: {
      onRested: () => {
        done.examinations += 1;
        return state.isSaved;
      },
    },
    sessionShell: {
      get hasRequest() {
        return state.hasRequest;
      },
      state: {
        saveNow: () => {
          done.saves += 1;
        },
      },
    },
  };
  return { supervisor: new Supervisor(context as unknown as SessionContext), state, done };
}

it('saves the state in a rest, and examines the session once after a command', () => {
  const { supervisor, done } = idleSession();
  supervisor.rest('set-up');
  vi.advanceTimersByTime(1000);
  expect(done).toEqual({ saves: 1, examinations: 0 });
  supervisor.rest('command');
  vi.advanceTimersByTime(1000);
  expect(done).toEqual({ saves: 2, examinations: 1 });
  supervisor[Symbol.dispose]();
});

it('examines a session whose rest begins again before that', () => {
  const { supervisor, done } = idleSession();
  supervisor.rest('command');
  vi.advanceTimersByTime(50);
  supervisor.rest('set-up');
  vi.advanceTimersByTime(1000);
  expect(done.examinations).toBe(1);
  supervisor[Symbol.dispose]();
});

it('saves and examines later what cannot be saved yet', () => {
  const { supervisor, state, done } = idleSession();
  state.hasRequest = true;
  state.isSaved = false;
  supervisor.rest('command');
  vi.advanceTimersByTime(500);
  expect(done.saves).toBe(0);
  expect(done.examinations).toBeGreaterThan(1);
  state.hasRequest = false;
  state.isSaved = true;
  const { examinations } = done;
  vi.advanceTimersByTime(1000);
  expect(done).toEqual({ saves: 1, examinations: examinations + 1 });
  supervisor[Symbol.dispose]();
});
