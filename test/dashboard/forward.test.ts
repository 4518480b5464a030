import { expect, it } from 'vitest';

import { CliProcess } from '../e2e/cli/support.js';
import { TestDaemon } from '../support/daemon.js';
import { serveInSession } from '../support/network/preview.js';
import { WireClient } from '../support/wire.js';
import { canRun, launchChromium } from './harness/chromium.js';

it.skipIf(!canRun)('a page behind `forward` runs in a browser as where it is served', async () => {
  await using daemon = await TestDaemon.start({ settings: { http: { previews: true } } });
  await using client = await WireClient.connect(daemon.url);
  const { session_id, port } = await serveInSession(client);
  await using forwarding = new CliProcess(['forward', session_id, String(port), '--url', daemon.url]);
  const [, origin = ''] = await forwarding.until('stdout', /^(http\S+) shows/);
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    await page.goto(`${origin}/page`);
    await expect.poll(() => page.title()).toBe('POST 0{"sid seen=yes');
  } finally {
    await browser.close();
  }
});
