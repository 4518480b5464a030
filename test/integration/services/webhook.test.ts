import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect, it } from 'vitest';

import { NO_METRICS } from '../../../src/core/metrics.js';
import type { Notification } from '../../../src/core/notifications.js';
import { Webhook } from '../../../src/services/notifications.js';

const PUSHED = 300;
/** Of them, one is under way, and this many wait. */
const QUEUED = 256;

it('keeps a bounded number of notifications for a receiver that hangs, and drops the oldest', async () => {
  let hasCome: () => void = () => undefined;
  const came = new Promise<void>((resolve) => (hasCome = resolve));
  const server = createServer(() => {
    hasCome();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const ended: string[] = [];
  const warnings: unknown[] = [];
  const noop = () => undefined;
  const webhook = new Webhook(
    {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hidden-path`,
      secret: undefined,
      events: ['health'],
      format: 'json',
      timeoutMs: 3_600_000,
      attempts: 5,
      includeCommand: false,
    },
    'host',
    { ...NO_METRICS, count: (_name, labels) => ended.push(Object.values(labels).join(' ')) },
    { debug: noop, info: noop, error: noop, warn: (message, facts) => warnings.push([message, facts]) },
  );
  const health: Notification = { event: 'health', message: 'not healthy' };
  webhook.push({ event: 'daemon_started', message: 'is not wanted' });
  webhook.push(health);
  await came;
  for (let number = 1; number < PUSHED; number += 1) webhook.push(health);
  expect(ended).toEqual(new Array(PUSHED - 1 - QUEUED).fill('health dropped'));
  // Many losses are one line, which does not have the path.
  expect(warnings).toHaveLength(1);
  expect(JSON.stringify(warnings)).not.toContain('hidden-path');
  await webhook.close(0);
  expect(ended).toHaveLength(PUSHED);
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});
