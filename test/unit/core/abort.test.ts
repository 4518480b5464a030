import { getEventListeners } from 'node:events';

import { expect, it } from 'vitest';

import { linkSignals, onAbort } from '../../../src/core/abort.js';

const listenersOf = ({ signal }: AbortController) => getEventListeners(signal, 'abort').length;

it('calls back at the end of a signal, also one that has ended, and not after it was told to stop', () => {
  const source = new AbortController();
  const calls: string[] = [];
  onAbort(source.signal, () => calls.push('first'));
  onAbort(source.signal, () => calls.push('stopped'))();
  onAbort(undefined, () => calls.push('none'))();
  source.abort();
  onAbort(source.signal, () => calls.push('late'));
  expect(calls).toEqual(['first', 'late']);
});

it('links signals, and leaves nothing at them', () => {
  const [one, other] = [new AbortController(), new AbortController()];
  {
    using linked = linkSignals(one.signal, undefined, other.signal);
    expect([listenersOf(one), listenersOf(other), linked.signal.aborted]).toEqual([1, 1, false]);
  }
  expect([listenersOf(one), listenersOf(other)]).toEqual([0, 0]);
  using linked = linkSignals(one.signal, other.signal);
  other.abort('why');
  expect(linked.signal).toMatchObject({ aborted: true, reason: 'why' });
  expect(linkSignals(one.signal, other.signal).signal.reason).toBe('why');
});
