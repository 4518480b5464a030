import { test } from 'vitest';

import { isRepeated } from './daemon-test.js';

/**
 * Gives an `it` whose tests take `shared`: what `start` gives. It is started when the first test wants it, shared by all tests of the
 * file, and disposed after the last one. A test that is repeated gets one of its own.
 */
export const sharedTest = <T extends AsyncDisposable>(start: () => Promise<T>) =>
  test
    // eslint-disable-next-line no-empty-pattern -- vitest reads the names of what a fixture needs from its pattern
    .extend('sharedByFile', { scope: 'file' }, async ({}, { onCleanup }) => {
      const started = await start();
      onCleanup(() => started[Symbol.asyncDispose]());
      return started;
    })
    .extend('shared', async ({ task, sharedByFile }, { onCleanup }) => {
      if (!isRepeated(task)) return sharedByFile;
      const started = await start();
      onCleanup(() => started[Symbol.asyncDispose]());
      return started;
    });
