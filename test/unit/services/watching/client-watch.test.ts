import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import type { OnBatch } from '../../../../src/engine/files/watch.js';
import { ClientWatch } from '../../../../src/services/watching.js';

let pending = 0;
const sent: unknown[] = [];
let give: OnBatch;

const sink = {
  id: 'sink',
  send: (_event: string, payload: unknown) => void sent.push(payload),
  pendingBytes: () => pending,
};
const watchable = {
  at: [],
  shownOf: (paths: readonly string[]) => paths.filter((path) => path !== '/secret'),
  performer: {
    watch: (_job: unknown, onBatch: OnBatch) => {
      give = onBatch;
      return Promise.resolve({ ended: Promise.resolve(''), [Symbol.asyncDispose]: () => Promise.resolve() });
    },
  },
};

async function watching(): Promise<ClientWatch> {
  const watch = new ClientWatch('w', sink);
  await watch.start(watchable as never, { isRecursive: false, debounceMs: 20 });
  return watch;
}

beforeEach(() => {
  vi.useFakeTimers();
  sent.length = 0;
  pending = 0;
});
afterEach(() => {
  vi.useRealTimers();
});

it('merges what a client does not read, and sends it once it reads', async () => {
  await using watch = await watching();
  expect(watch.isOver()).toBe(false);
  pending = 1_000_000;
  give({ changes: [{ path: '/a', change: 'created' }], overflow: false });
  give({ changes: [{ path: '/a', change: 'changed' }], overflow: false });
  give({ changes: [{ path: '/b', change: 'changed' }], overflow: false });
  give({ changes: [{ path: '/b', change: 'removed' }], overflow: false });
  vi.advanceTimersByTime(1000);
  expect(sent).toEqual([]);
  pending = 0;
  vi.advanceTimersByTime(20);
  expect(sent).toEqual([
    {
      watch_id: 'w',
      changes: [
        { path: '/a', change: 'created' },
        { path: '/b', change: 'removed' },
      ],
      overflow: false,
    },
  ]);
});

it('keeps 1000 changes at most, and says that there were more', async () => {
  await using watch = await watching();
  expect(watch.isOver()).toBe(false);
  pending = 1_000_000;
  for (let index = 0; index < 1001; index += 1) {
    give({ changes: [{ path: `/${index}`, change: 'created' }], overflow: false });
  }
  expect(vi.getTimerCount()).toBe(1);
  pending = 0;
  vi.advanceTimersByTime(20);
  expect(sent).toMatchObject([{ overflow: true }]);
  expect((sent[0] as { changes: unknown[] }).changes).toHaveLength(1000);
});

it('says nothing of what the client may not see, and nothing after its end', async () => {
  const watch = await watching();
  give({ changes: [{ path: '/secret', change: 'changed' }], overflow: false });
  await watch[Symbol.asyncDispose]();
  give({ changes: [{ path: '/a', change: 'changed' }], overflow: false });
  expect(sent).toEqual([]);
});

it('sends what a slow client has not got before the end', async () => {
  await using watch = await watching();
  pending = 1_000_000;
  give({ changes: [{ path: '/a', change: 'created' }], overflow: false });
  watch.tellEnd('failed', 'gone');
  expect(sent).toEqual([
    { watch_id: 'w', changes: [{ path: '/a', change: 'created' }], overflow: false },
    { watch_id: 'w', reason: 'failed', detail: 'gone' },
  ]);
});
