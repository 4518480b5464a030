import { describe, expect, it } from 'vitest';

import { FailureMemory } from '../../../../src/core/openai/failure.js';

const WINDOW_MS = 5000;

/** A memory with one failure, at 0. */
function failed() {
  const memory = new FailureMemory<string>(() => WINDOW_MS);
  memory.remember('key', 'why', 0);
  return memory;
}

/** When a client comes again that waits these times, one after another. */
const timesOf = (pauses: readonly number[]) => pauses.map((_, at) => pauses.slice(0, at + 1).reduce((a, b) => a + b));

describe('a failure is remembered', () => {
  it.each([
    ['the AI SDK', [2000, 4000]],
    ['LangChain in a hurry', [1, 2, 4, 8, 16, 32].map((s) => s * 1000)],
    ['LangChain at leisure', [2, 4, 8, 16, 32, 64].map((s) => s * 1000)],
    ['LangChain, first in a hurry', [1, 2, 4, 8, 16, 64].map((s) => s * 1000)],
    ['a client that is in a loop', [10, 10, 10, 10, 10, 10]],
  ])('for %s', (_, pauses) => {
    const memory = failed();
    for (const at of timesOf(pauses)) expect(memory.recall('key', at)).toBe('why');
  });

  it('no longer than a client pauses', () => {
    expect(failed().recall('key', WINDOW_MS)).toBeUndefined();
    const memory = failed();
    memory.recall('key', 4000);
    expect(memory.recall('key', 4000 + WINDOW_MS + 2 * 4000)).toBeUndefined();
  });

  it('not for ever, however often the request comes', () => {
    const memory = failed();
    for (let at = 0; at < 150_000; at += 1000) expect(memory.recall('key', at)).toBe('why');
    expect(memory.recall('key', 150_000)).toBeUndefined();
  });

  it('of the same request alone, and until it has succeeded', () => {
    const memory = failed();
    expect(memory.recall('other', 1)).toBeUndefined();
    memory.forget('key');
    expect(memory.recall('key', 1)).toBeUndefined();
  });

  it('once, of requests that fail one after another at the same time', () => {
    const memory = failed();
    memory.remember('key', 'later', 3000);
    expect(memory.recall('key', 3000 + WINDOW_MS)).toBe('why');
  });

  it('not when it is switched off', () => {
    const memory = new FailureMemory<string>(() => 0);
    memory.remember('key', 'why', 0);
    expect(memory.recall('key', 0)).toBeUndefined();
  });

  it('among a bounded number of others', () => {
    const memory = failed();
    for (let index = 0; index < 256; index += 1) memory.remember(String(index), 'why', 1);
    expect(memory.recall('key', 2)).toBeUndefined();
    expect(memory.recall('255', 2)).toBe('why');
  });
});
