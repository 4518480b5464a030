import { expect } from 'vitest';

import { hrefOf } from '../../src/dashboard/route.js';
import type { TestDaemon } from '../support/daemon.js';
import { WireClient } from '../support/wire.js';
import { dashboardTest } from './harness/dashboard-test.js';

const it = dashboardTest({ settings: { confirmation: { mode: 'operator', checkpoint: false } } });
const route = hrefOf('confirmations');

const come = (daemon: TestDaemon, name: string) =>
  WireClient.connect(daemon.url, ['websocket'], { token: daemon.createToken('agent', name) });

it('is decided by keys alone, and the other operator sees it', async ({ openDashboard, daemon }) => {
  await using agent = await come(daemon, 'keys');
  const first = await openDashboard({ role: 'operator', route });
  const second = await openDashboard({ role: 'operator', route, viewport: { width: 390, height: 800 } });
  const running = agent.run('echo approved; rm -f none');
  for (const { page } of [first, second]) await page.getByRole('article').getByText('command of keys').waitFor();
  expect(await first.page.title()).toContain('1');
  // The button works once the card has stood still for a while.
  await first.page.locator('.button.primary[aria-disabled=false]').waitFor();
  await first.page.keyboard.press('a');
  await first.page.keyboard.press('Enter');
  expect(await running).toMatchObject({ status: 'completed', stdout: 'approved\n' });
  await first.page.getByRole('article').getByText('by you').waitFor();
  await second.page.getByRole('article').getByText('Approved', { exact: true }).waitFor();
});

it('is rejected with a reason that the client gets', async ({ openDashboard, daemon }) => {
  await using agent = await come(daemon, 'refused');
  const { page } = await openDashboard({ role: 'operator', route });
  const running = agent.run('rm -f another');
  const card = page.getByRole('article').filter({ hasText: 'refused' });
  await card.waitFor();
  await card.locator('.button.danger[aria-disabled=false]').waitFor();
  await card.focus();
  await page.keyboard.press('r');
  await page.keyboard.type('not today');
  await page.keyboard.press('Enter');
  expect(await running).toMatchObject({
    error: { code: 'COMMAND_DENIED', message: expect.stringContaining('not today') as string },
  });
  await card.getByText('Rejected').waitFor();
});

it('shows characters that deceive as boxes', async ({ openDashboard, daemon }) => {
  await using agent = await come(daemon, 'bidi');
  const { page } = await openDashboard({ role: 'operator', route });
  const running = agent.run('rm -f a\u202Etxt.exe\u200B \u0430dmin').catch(() => undefined);
  const card = page.getByRole('article').filter({ hasText: 'bidi' });
  await card.getByText('U+202E').first().waitFor();
  await card.getByText('U+200B').first().waitFor();
  await agent[Symbol.asyncDispose]();
  await card.getByText('Withdrawn').waitFor();
  await running;
});

it('says of a confirmation that no longer matches what has changed, and keeps what was typed', async ({
  openDashboard,
  daemon,
}) => {
  await using agent = await come(daemon, 'moved');
  const session = await agent.openSession();
  await agent.run('mkdir -p one two; ln -sfn one link', session);
  const { page } = await openDashboard({ role: 'operator', route });
  const running = agent.run('rm -r link/never', session).catch(() => undefined);
  const card = page.getByRole('article').filter({ hasText: 'moved' });
  await card.getByRole('textbox').fill('looked at it');
  await agent.run('ln -sfn /tmp link');
  await card.locator('.button.primary[aria-disabled=false]').click();
  await card
    .getByRole('alert')
    .getByText(/leads to .* now/)
    .waitFor();
  expect(await card.getByRole('textbox').inputValue()).toBe('looked at it');
  await agent[Symbol.asyncDispose]();
  await running;
});

/** Keeps what notifications would show: headless Chromium shows none. */
const KEEP_NOTIFICATIONS = `{
  globalThis.shown = [];
  globalThis.Notification = class extends EventTarget {
    static permission = 'granted';
    static requestPermission = async () => 'granted';
    constructor(title, options) { super(); shown.push({ title, ...options }); }
  };
  Object.defineProperty(document, 'hidden', { get: () => true });
}`;

it('notifies of class and requester, never of the command', async ({ openDashboard, daemon }) => {
  await using agent = await come(daemon, 'notified');
  const { page } = await openDashboard({ role: 'operator', route });
  await page.evaluate(KEEP_NOTIFICATIONS);
  await page.getByRole('button', { name: 'Notify me' }).click();
  const running = agent.run('rm -f very-private').catch(() => undefined);
  await expect.poll(() => page.evaluate('shown')).toHaveLength(1);
  const [shown] = await page.evaluate<readonly object[]>('shown');
  expect(shown).toMatchObject({
    title: 'Confirmation: destructive command',
    body: expect.stringMatching(/^Requested by .*notified/) as string,
  });
  expect(JSON.stringify(shown)).not.toContain('very-private');
  await agent[Symbol.asyncDispose]();
  await running;
});

it('has nothing to press for a viewer, and a local page cannot decide', async ({ openDashboard, daemon }) => {
  await using agent = await come(daemon, 'kept');
  const running = agent.run('rm -f kept').catch(() => undefined);
  const { page } = await openDashboard({ signIn: 'link', route });
  const card = page.getByRole('article').filter({ hasText: 'kept' });
  await card.waitFor();
  expect(await card.locator('.button.primary').getAttribute('aria-disabled')).toBe('true');
  await agent[Symbol.asyncDispose]();
  await running;
  const viewer = await openDashboard({ role: 'viewer', route });
  await viewer.page
    .getByText(/agent, operator or admin/)
    .first()
    .waitFor();
});

/** Presses a button twice as soon as it is there, and keeps when it began to work. Times are those of the page. */
const PRESS_AT_ONCE = `{
  const looker = new MutationObserver(() => {
    const button = document.querySelector('.button.primary');
    if (!button) return;
    if (globalThis.cameAt === undefined) {
      globalThis.cameAt = performance.now();
      button.click();
      button.click();
    }
    if (button.getAttribute('aria-disabled') === 'false') globalThis.workedAt ??= performance.now();
  });
  looker.observe(document.querySelector('main'), { subtree: true, childList: true, attributes: true });
}`;

it('takes no press within 700 ms, and a double click for one card alone', async ({ openDashboard, daemon }) => {
  await using agent = await come(daemon, 'hasty');
  const { page } = await openDashboard({ role: 'operator', route });
  await page.getByText('Nothing waits for a confirmation').waitFor();
  await page.evaluate(PRESS_AT_ONCE);
  const first = agent.run('echo first; rm -f none');
  const card = (text: string) => page.getByRole('article').filter({ hasText: text });
  await card('first').locator('.button.primary[aria-disabled=false]').waitFor();
  expect(await page.evaluate<number>('workedAt - cameAt')).toBeGreaterThanOrEqual(690);
  await expect(agent.request('list_commands', {})).resolves.toMatchObject({ commands: [] });

  const second = agent.run('echo second; rm -f none').catch(() => undefined);
  await card('second').locator('.button.primary[aria-disabled=false]').waitFor();
  await card('first').getByRole('button', { name: 'Approve' }).dblclick();
  expect(await first).toMatchObject({ stdout: 'first\n' });
  await card('first').getByText('Approved', { exact: true }).waitFor();
  await card('second').getByRole('button', { name: 'Approve' }).waitFor();
  await agent[Symbol.asyncDispose]();
  await second;
});

it('keeps each card in its place while others come and go', async ({ openDashboard, daemon }) => {
  const [above, kept, below] = ['comes-first', 'stays-in-place', 'comes-last'] as const;
  const { page } = await openDashboard({ role: 'operator', route });
  const card = (name: string) => page.getByRole('article').filter({ hasText: name });
  const ask = async (name: string) => {
    const agent = await come(daemon, name);
    const asked = agent.run(`rm -f ${name}`).catch(() => undefined);
    await card(name).locator('.button.primary[aria-disabled=false]').waitFor();
    return { agent, asked };
  };
  const agents = [await ask(above), await ask(kept)];
  const approve = card(kept).getByRole('button', { name: 'Approve' });
  const place = await approve.boundingBox();
  agents.push(await ask(below));
  expect(await approve.boundingBox()).toEqual(place);
  // One is decided elsewhere, the other one is withdrawn: both stay until they are dismissed.
  const token = daemon.createToken('operator', 'elsewhere');
  await using operator = await WireClient.connect(daemon.url, ['websocket'], { token });
  const [first] = (await operator.request('list_confirmations', {})).confirmations;
  await operator.request('confirm_command', { confirmation_id: first?.confirmation_id ?? '', decision: 'reject' });
  await agents.at(-1)?.agent[Symbol.asyncDispose]();
  await card(above).getByText('Rejected').waitFor();
  await card(below).getByText('Withdrawn').waitFor();
  expect(await approve.boundingBox()).toEqual(place);
  expect(await page.getByRole('article').allInnerTexts()).toEqual(
    [above, kept, below].map((name) => expect.stringContaining(name) as string),
  );
  for (const { agent, asked } of agents) {
    await agent[Symbol.asyncDispose]();
    await asked;
  }
});

it('shows all that a decision needs, and is decided by a thumb', async ({ openDashboard, daemon, client }) => {
  await using agent = await come(daemon, 'complete');
  await client.request('checkpoint_workspace', { label: 'before' });
  await client.run('echo changed > changed.txt');
  const session = await agent.openSession({ label: 'where it runs' });
  const { page } = await openDashboard({ role: 'operator', route, viewport: { width: 320, height: 640 } });
  const running = agent.run('ls | sort; rm -f none', session, { env: { COLOUR: 'deep-blue' }, stdin: 'given-text' });
  const card = page.getByRole('article').filter({ hasText: 'complete' });
  for (const text of ['COLOUR=deep-blue', 'given-text', daemon.workspace, 'where it runs', 'destructive', / left$/]) {
    await card.getByText(text).first().waitFor();
  }
  expect(await card.getByRole('link', { name: 'where it runs' }).getAttribute('href')).toContain(session);
  await card.getByRole('button', { name: 'Changes of the workspace' }).click();
  await card.getByText('changed.txt').first().waitFor();
  const approve = card.getByRole('button', { name: 'Approve' });
  await approve.and(page.locator('[aria-disabled=false]')).waitFor();
  await approve.scrollIntoViewIfNeeded();
  const { x = 0, width = 0, height = 0 } = (await approve.boundingBox()) ?? {};
  expect(height).toBeGreaterThanOrEqual(36);
  expect(x + width).toBeLessThanOrEqual(320);
  await approve.click();
  expect(await running).toMatchObject({ exit_code: 0 });
});
