import { once } from 'node:events';
import { createServer } from 'node:http';

import { expect } from 'vitest';

import { TestDaemon } from '../../support/daemon.js';
import { dashboardTest } from '../harness/dashboard-test.js';

const it = dashboardTest();

/** A program that had the port before, and has left a service worker in the browser. */
async function leaveWorker(port: number, open: () => Promise<unknown>): Promise<void> {
  const server = createServer((request, response) => {
    const isScript = request.url === '/worker.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? 'addEventListener("fetch", () => {});' : '<!doctype html><title>before</title>');
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  try {
    await open();
  } finally {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
}

const REGISTRATIONS = 'navigator.serviceWorker.getRegistrations().then(({ length }) => length)';

it('removes the service worker of a program before it, and registers none', async ({ openDashboard, daemon }) => {
  const { page, faults } = await openDashboard({ signIn: 'none' });
  faults.expect(/WebSocket connection to .* failed|ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET/);
  await page.goto('about:blank');
  await daemon.stop();
  const port = Number(new URL(daemon.url).port);
  await leaveWorker(port, async () => {
    await page.goto(daemon.url);
    await page.evaluate(`navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready)`);
    expect(await page.evaluate(REGISTRATIONS)).toBe(1);
    await page.goto('about:blank');
  });
  const next = await TestDaemon.start({ settings: { socketio: { port } } }, daemon.directory);
  try {
    await page.goto(daemon.url);
    await page.getByLabel('Token').waitFor();
    expect(await page.evaluate(REGISTRATIONS)).toBe(0);
    expect(await page.evaluate('navigator.serviceWorker.controller')).toBeNull();

    // The policy of the page permits no script by its address, and so no worker.
    faults.expect(/TrustedScriptURL|trusted-types|require-trusted-types-for/);
    const script = await page.evaluate<string>(`document.querySelector('script[src]').src`);
    const refusal = `navigator.serviceWorker.register(${JSON.stringify(script)}).then(() => 'registered', String)`;
    expect(await page.evaluate(refusal)).toContain('TrustedScriptURL');
    expect(await page.evaluate(REGISTRATIONS)).toBe(0);
  } finally {
    await next.stop();
  }
});
