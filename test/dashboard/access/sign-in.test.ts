import { readFileSync } from 'node:fs';

import { describe, expect } from 'vitest';

import { eventually } from '../../support/measure.js';
import { WireClient } from '../../support/wire.js';
import { dashboardTest } from '../harness/dashboard-test.js';

const it = dashboardTest({ settings: { socketio: { cors_allowed_origins: ['https://other.example'] } } });

const REFUSED = /status of 401/;

describe('signing in', () => {
  it('begins without a connection, which would be refused and recorded', async ({ openDashboard, daemon }) => {
    const { page } = await openDashboard({ signIn: 'none' });
    await page.getByLabel('Token').waitFor();
    const token = daemon.createToken('viewer', 'who-comes-later');
    await using later = await WireClient.connect(daemon.url, ['websocket'], { token });
    expect(later.socket.connected).toBe(true);
    await eventually(() => {
      expect(readFileSync(daemon.auditFile, 'utf8')).toContain('who-comes-later');
    });
    const log = readFileSync(daemon.auditFile, 'utf8');
    expect(log).not.toContain('connection_refused');
  });

  it('by a token in the address leaves nothing of it in address or history', async ({ openDashboard }) => {
    const { page, token = '' } = await openDashboard({ role: 'viewer' });
    expect(page.url()).not.toContain(token);
    expect(await page.evaluate('history.length')).toBeLessThanOrEqual(2);
    expect(await page.evaluate('localStorage.length + document.cookie.length')).toBe(0);
    await page.goBack().catch(() => undefined);
    expect(page.url()).not.toContain(token);
  });

  it('by hand, after a wrong token', async ({ openDashboard, daemon }) => {
    const { page } = await openDashboard({ signIn: 'none' });
    const field = page.getByLabel('Token');
    await field.fill('sat_wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').filter({ hasText: 'the token is not known' }).waitFor();
    expect(await field.inputValue()).toBe('sat_wrong');
    await field.fill(daemon.createToken('operator', 'by-hand'));
    await field.press('Enter');
    await page.getByRole('navigation').first().waitFor();
    await page.reload();
    await page.getByRole('navigation').first().waitFor();
  });

  it('by a link, once, with a lower role', async ({ openDashboard, client, daemon }) => {
    const { page } = await openDashboard({ signIn: 'none' });
    const { path } = await client.request('create_dashboard_link', { role: 'viewer' });
    await page.goto('about:blank');
    await page.goto(daemon.url + path);
    await page.getByRole('banner').filter({ hasText: 'viewer' }).waitFor();
    expect(page.url()).not.toContain('code');
    const second = await openDashboard({ signIn: 'none' });
    second.faults.expect(REFUSED);
    await second.page.goto('about:blank');
    await second.page.goto(daemon.url + path);
    await second.page.getByRole('alert').filter({ hasText: 'the link does not count' }).waitFor();
  });

  it('ends with the token, and says why', async ({ openDashboard, daemon }) => {
    const { page, token = '' } = await openDashboard({ role: 'operator' });
    const { tokens } = daemon.tokens.read();
    daemon.tokens.revoke(tokens.at(-1)?.id ?? '');
    await page.getByRole('alert').filter({ hasText: 'was revoked' }).waitFor();
    await eventually(async () => {
      expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain(token);
    });
  });
});
