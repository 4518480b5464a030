import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Page } from 'playwright-core';
import { expect } from 'vitest';

import { hrefOf } from '../../src/dashboard/route.js';
import type { TestDaemon } from '../support/daemon.js';
import { WireClient } from '../support/wire.js';
import { dashboardTest } from './harness/dashboard-test.js';

/** `npm run docs:pictures` makes those of the README and the manual. Others go into the logs, which are not kept. */
const areForDocs = process.env['PICTURES'] === 'docs';
const DIRECTORY = fileURLToPath(new URL(areForDocs ? '../../docs/pictures' : '../../logs/pictures', import.meta.url));
/** How long the machine is watched for the charts, in milliseconds. */
const HISTORY_MS = areForDocs ? 150_000 : 0;
/** A workspace with a name that people can read. */
const WORKSPACE = '/tmp/project';

const it = dashboardTest({
  settings: {
    ...(areForDocs && { adapter: { workspace_directory: WORKSPACE } }),
    confirmation: { mode: 'operator', classes: { destructive: 'operator' }, expires: 600 },
  },
});

/** A client of a daemon at work: each has something for the pictures. */
async function come(daemon: TestDaemon, name: string): Promise<WireClient> {
  return WireClient.connect(daemon.url, ['websocket'], { token: daemon.createToken('agent', name) });
}

const COLOURS = `for n in 1 2 3 4 5 6; do printf '\\033[3%dm●\\033[0m ' $n; done; echo`;

/** What an agent has done and does. */
async function work(agent: WireClient, label: string, running: string): Promise<string> {
  const id = await agent.openSession({ label, cols: 110, rows: 26 });
  await agent.run('git init -q . 2>/dev/null; printf "export const answer = 42;\\n" > answer.mjs; ls', id);
  await agent.run(
    `${COLOURS}; node --version; node -e 'for (let n = 1; n <= 8; n++) console.log("ok", n, "- step", n)'`,
    id,
  );
  await agent.run('grep -rn missing . ; echo "nothing found" >&2; false', id);
  await agent.run(running, id, { background: true });
  return id;
}

async function take(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(DIRECTORY, `${name}.png`), animations: 'disabled' });
}

it(
  'makes the pictures of the README and the manual',
  { timeout: 60_000 + HISTORY_MS },
  async ({ openDashboard, daemon }) => {
    mkdirSync(DIRECTORY, { recursive: true });
    await using builder = await come(daemon, 'builder');
    await using reviewer = await come(daemon, 'reviewer');
    const id = await work(
      builder,
      'build and test',
      `for n in $(seq 40); do node -e 'const all = Buffer.alloc(2e8, 1); for (let n = 0; n < 2e9; n++);'; sleep 4; done`,
    );
    await work(reviewer, 'review of #42', 'sleep 900');
    await builder.request('checkpoint_workspace', { label: 'before the clean-up' });
    await reviewer.run('printf "export const answer = 43;\\n" > answer.mjs; echo draft > notes.md');
    const asked = builder.run('rm -rf build dist && git clean -fdx').catch(() => undefined);

    const light = await openDashboard({ name: 'ada', viewport: { width: 1280, height: 860 }, colorScheme: 'light' });
    const { page } = light;
    await page.getByRole('row').filter({ hasText: 'build and test' }).filter({ hasText: 'busy' }).waitFor();
    await page.locator('.chart canvas').nth(5).waitFor();
    await page.waitForTimeout(HISTORY_MS);
    await take(page, 'overview');
    const go = (route: string) => page.evaluate(`location.hash = ${JSON.stringify(route)}`);
    await go(hrefOf('confirmations'));
    await page.locator('.button.primary[aria-disabled=false]').waitFor();
    await page.getByRole('button', { name: 'Changes of the workspace' }).click();
    await page.getByText('notes.md').first().waitFor();
    await take(page, 'confirmation');
    await page.emulateMedia({ colorScheme: 'dark' });
    await go(`#/sessions/${id}`);
    await page.locator('.xterm-rows').filter({ hasText: 'ok 8' }).waitFor();
    await take(page, 'session');
    await go(`#/sessions/${id}?view=timeline`);
    await page.getByRole('row').filter({ hasText: 'node --version' }).getByRole('link').click();
    await page.getByRole('region', { name: 'Output: stdout' }).waitFor();
    await take(page, 'timeline');
    await go(hrefOf('checkpoints'));
    await page.getByRole('row').filter({ hasText: 'before the clean-up' }).getByRole('link').click();
    await page.getByRole('button', { name: 'Show lines' }).click();
    await page.getByText('answer = 43').first().waitFor();
    await take(page, 'checkpoint');
    await builder[Symbol.asyncDispose]();
    await asked;
    if (areForDocs) rmSync(WORKSPACE, { recursive: true, force: true });
    expect(light.faults.unexpected).toEqual([]);
  },
);
