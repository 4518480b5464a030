import { afterAll, beforeAll } from 'vitest';

import { type DaemonOptions, TestDaemon } from './daemon.js';
import { WireClient } from './wire.js';

/** A daemon, and a client of it. */
export interface DaemonAndClient {
  readonly daemon: TestDaemon;
  readonly client: WireClient;
}

/** Starts a daemon and connects to it before the tests of a suite, hands both over, and ends them after the tests. */
export function useDaemon(take: (started: DaemonAndClient) => void, options: DaemonOptions = {}): void {
  let started: DaemonAndClient;
  beforeAll(async () => {
    const daemon = await TestDaemon.start(options);
    started = { daemon, client: await WireClient.connect(daemon.url) };
    take(started);
  });
  afterAll(async () => {
    await started.client[Symbol.asyncDispose]();
    await started.daemon[Symbol.asyncDispose]();
  });
}
