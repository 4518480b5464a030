import { test, type TestContext } from 'vitest';

import { type DaemonOptions, TestDaemon } from './daemon.js';
import { WireClient } from './wire.js';

/**
 * Gives an `it` whose tests take a running daemon and a client of it as fixtures: `it('runs', async ({ client }) => { … })`. Both are
 * started when the first test wants them, shared by all tests of the file, and ended after the last one. A test that is repeated gets
 * a daemon and a client of its own: what the first attempt has left must not fail the second. `it.for` takes tables of cases; `it.each`
 * hands no fixtures over.
 */
export const daemonTest = (options: DaemonOptions = {}) =>
  test
    .extend('daemonOptions', { scope: 'file' }, () => options)
    .extend('daemonOfFile', { scope: 'file' }, async ({ daemonOptions }, { onCleanup }) => {
      const daemon = await TestDaemon.start(daemonOptions);
      onCleanup(() => daemon[Symbol.asyncDispose]());
      return daemon;
    })
    .extend('daemon', async ({ task, daemonOptions, daemonOfFile }, { onCleanup }) => {
      if (!isRepeated(task)) return daemonOfFile;
      const daemon = await TestDaemon.start(daemonOptions);
      onCleanup(() => daemon[Symbol.asyncDispose]());
      return daemon;
    })
    .extend('clientOfFile', { scope: 'file' }, async ({ daemonOfFile }, { onCleanup }) => {
      const client = await WireClient.connect(daemonOfFile.url);
      onCleanup(() => client[Symbol.asyncDispose]());
      return client;
    })
    .extend('client', async ({ task, daemon, clientOfFile }, { onCleanup }) => {
      if (!isRepeated(task)) return clientOfFile;
      const client = await WireClient.connect(daemon.url);
      onCleanup(() => client[Symbol.asyncDispose]());
      return client;
    });

/** Whether an attempt before this one has failed. */
export const isRepeated = ({ result }: TestContext['task']): boolean => (result?.retryCount ?? 0) > 0;
