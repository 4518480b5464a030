import { expect } from 'vitest';

import { WireClient } from '../support/wire.js';
import { dashboardTest } from './harness/dashboard-test.js';

const it = dashboardTest({
  settings: {
    confirmation: { mode: 'operator', checkpoint: false },
    llm: { shell_providers: { echo: { command: 'cat', stdin_mode: 'pipe' } } },
  },
});

it('has a link to the content, colours that are kept, and a way out', async ({ openDashboard, client }) => {
  const { page, token = '' } = await openDashboard({ colorScheme: 'light' });
  await page.getByRole('heading', { name: /^Sessions/ }).waitFor();
  await page.evaluate('document.activeElement.blur()');
  await page.keyboard.press('Tab');
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to content');
  await page.keyboard.press('Enter');
  expect(await page.evaluate('document.activeElement.id')).toBe('main');

  const scheme = () => page.evaluate<string>('getComputedStyle(document.documentElement).colorScheme');
  await page.getByRole('button', { name: 'Dark colours' }).click();
  await expect.poll(scheme).toBe('dark');
  await page.reload();
  await page.getByRole('button', { name: 'Light colours' }).waitFor();
  expect(await scheme()).toBe('dark');

  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Token').waitFor();
  expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain(token);
  await page.reload();
  await page.getByLabel('Token').waitFor();
  // Signing out ends a sign-in, not the token that was typed.
  expect((await client.request('list_tokens', {})).tokens.length).toBeGreaterThan(0);
});

it('ends the sign-in of a link when the page is signed out', async ({ openDashboard, daemon }) => {
  const { page } = await openDashboard({ signIn: 'link' });
  const token = await page.evaluate<string>(`sessionStorage.getItem('token')`);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Token').waitFor();
  const ask = () => fetch(new URL('/v1/models', daemon.url), { headers: { authorization: `Bearer ${token}` } });
  await expect.poll(async () => (await ask()).status).toBe(401);
});

it('shows what waits and which models are asked, on the overview', async ({ openDashboard, client, daemon }) => {
  await using agent = await WireClient.connect(daemon.url, ['websocket'], {
    token: daemon.createToken('agent', crypto.randomUUID()),
  });
  const { page } = await openDashboard({ role: 'operator', name: 'watcher' });
  const answer = client.request('llm_call', {
    shell_provider: 'echo',
    messages: [{ role: 'user', content: 'never shown here' }],
  });
  const calls = page.getByRole('region', { name: 'LLM calls' }).first();
  await calls.getByRole('row').filter({ hasText: 'echo' }).filter({ hasText: 'ok' }).waitFor();
  expect((await answer).error).toBeUndefined();
  expect(await page.content()).not.toContain('never shown here');

  const asked = agent.run('rm -f anything').catch(() => undefined);
  await page
    .getByRole('region', { name: /Waiting/ })
    .getByText('rm -f anything')
    .first()
    .waitFor();
  expect(await page.getByRole('navigation', { name: 'Pages' }).innerText()).toMatch(/Confirmations\s*1/);
  await expect.poll(() => page.locator('[aria-live=assertive]').innerText()).toContain('waits for a confirmation');
  expect(await page.locator('[aria-live=assertive]').innerText()).not.toContain('rm -f');
  await agent[Symbol.asyncDispose]();
  await asked;
});

it('has its pages in one row that scrolls where there is little room', async ({ openDashboard }) => {
  const { page } = await openDashboard({ viewport: { width: 320, height: 640 } });
  const pages = page.getByRole('navigation', { name: 'Pages' });
  await pages.getByRole('link', { name: 'Doctor' }).waitFor();
  const tops = await page.evaluate<readonly number[]>(
    `[...document.querySelectorAll('nav.pages a')].map(({ offsetTop }) => offsetTop)`,
  );
  expect(tops.length).toBeGreaterThan(7);
  expect(new Set(tops).size).toBe(1);
  await page.evaluate(`location.hash = '#/doctor'`);
  await page.getByRole('heading', { level: 1, name: 'Doctor' }).waitFor();
  // The page that is shown is in sight.
  const { x = 0, width = 0 } = (await pages.getByRole('link', { name: 'Doctor' }).boundingBox()) ?? {};
  expect(x).toBeGreaterThan(0);
  expect(x + width).toBeLessThanOrEqual(320);
});

it('does not move for those who want nothing to move', async ({ openDashboard }) => {
  const { page } = await openDashboard({ signIn: 'none', reducedMotion: 'reduce' });
  await page.getByLabel('Token').waitFor();
  const style = await page.evaluate<readonly string[]>(`{
    const spinner = document.body.appendChild(document.createElement('span'));
    spinner.className = 'spinner';
    const { animationName, transitionDuration } = getComputedStyle(spinner);
    spinner.remove();
    [animationName, transitionDuration];
  }`);
  expect(style).toEqual(['none', '0s']);
});
