import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, expect } from 'vitest';

import { makeCertificate } from '../../support/network/certificate.js';
import { MAIN } from '../../support/daemon.js';
import { dashboardTest } from '../harness/dashboard-test.js';

const directory = mkdtempSync(join(tmpdir(), 'shell-adapter-tls-'));
afterAll(() => {
  rmSync(directory, { recursive: true, force: true });
});
const { key, cert } = makeCertificate(directory);

const it = dashboardTest({ settings: { socketio: { tls: { cert, key } } } });

it('is signed in by an https link, and used over wss', async ({ openDashboard, daemon }) => {
  const cli = async (...args: readonly string[]) => {
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: cert };
    const { stdout } = await promisify(execFile)(process.execPath, [MAIN, ...args, '--url', daemon.url], { env });
    return stdout.trim();
  };
  const link = await cli('dashboard', '--print');
  expect(link).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/#code=/);
  await cli('open', '--label', 'behind TLS');

  const { page } = await openDashboard({ signIn: 'none', ignoreHTTPSErrors: true });
  await page.getByLabel('Token').waitFor();
  const sockets: string[] = [];
  page.on('websocket', (socket) => sockets.push(socket.url()));
  await page.goto('about:blank');
  await page.goto(link);
  await page.getByRole('link', { name: 'behind TLS' }).click();
  await page.getByRole('textbox', { name: 'Command' }).fill('echo over-tls');
  await page.keyboard.press('Enter');
  await page.locator('.xterm-rows').filter({ hasText: 'over-tls' }).waitFor();
  // More than one after a change of the network.
  expect(new Set(sockets.map((url) => new URL(url).protocol))).toEqual(new Set(['wss:']));
});
