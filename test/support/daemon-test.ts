import { test } from 'vitest';

import { type DaemonOptions, TestDaemon } from './daemon.js';
import { WireClient } from './wire.js';

/**
 * Gives an `it` whose tests take a running daemon and a client of it as fixtures: `it('runs', async ({ client }) => { … })`. Both are
 * started when the first test wants them, shared by all tests of the file, and ended after the last one. `it.for` takes tables of
 * cases; `it.each` hands no fixtures over.
 */
export const daemonTest = (options: DaemonOptions = {}) =>
  test
    .extend('daemonOptions', { scope: 'file' }, () => options)
    .extend('daemon', { scope: 'file' }, async ({ daemonOptions }, { onCleanup }) => {
      const daemon = await TestDaemon.start(daemonOptions);
      onCleanup(() => daemon[Symbol.asyncDispose]());
      return daemon;
    })
    .extend('client', { scope: 'file' }, async ({ daemon }, { onCleanup }) => {
      const client = await WireClient.connect(daemon.url);
      onCleanup(() => client[Symbol.asyncDispose]());
      return client;
    });
