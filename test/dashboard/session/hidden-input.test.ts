import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { expect } from 'vitest';

import { dataOf, readRecording } from '../../e2e/recordings/support.js';
import type { TestDaemon } from '../../support/daemon.js';
import { eventually } from '../../support/measure.js';
import { dashboardTest } from '../harness/dashboard-test.js';

const it = dashboardTest();

/** In pieces, so that nothing but what is typed has all of it. */
const SECRET = ['open', 'sesame', '4711'].join('-');

/** Files of the daemon that have a text. */
function filesWith(daemon: TestDaemon, text: string): readonly string[] {
  return readdirSync(daemon.directory, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const path = join(daemon.directory, name);
    return statSync(path).isFile() && readFileSync(path).includes(text);
  });
}

it.for([
  ['a program with a terminal', true],
  ['the shell', false],
] as const)(
  'shows, logs and records nothing of a password for %s',
  async ([, isTty], { openDashboard, client, daemon }) => {
    const label = `password-${String(isTty)}`;
    const { session_id: id, recording_id: recording } = await client.request('open_session', { label, record: true });
    const { page } = await openDashboard({ route: `#/sessions/${id}` });
    const screen = page.locator('.xterm-rows');
    await screen.waitFor();
    await page.getByRole('checkbox', { name: 'Terminal' }).setChecked(isTty);
    const field = page.getByRole('textbox', { name: 'Command', exact: true });
    await field.fill('read -rsp "Password: " word; echo; echo "read ${#word} characters"');
    await field.press('Enter');
    await page.getByRole('status').filter({ hasText: 'waits for input: Password:' }).waitFor();
    await page.getByRole('button', { name: 'Type', exact: true }).click();
    await page.keyboard.type(SECRET);
    await page.keyboard.press('Enter');
    await screen.filter({ hasText: `read ${String(SECRET.length)} characters` }).waitFor();
    expect(await page.content()).not.toContain(SECRET);
    await page.getByRole('button', { name: 'As text' }).click();
    await page.getByRole('log').getByText('characters').last().waitFor();
    expect(await page.content()).not.toContain(SECRET);

    await client.request('close_session', { session_id: id });
    await eventually(() => {
      expect(readFileSync(daemon.auditFile, 'utf8')).toContain('send_input');
    });
    const { cast, text } = await readRecording(client, recording ?? '');
    expect(text).not.toContain(SECRET);
    expect(dataOf(cast, 'i')).toContain('***');
    expect(filesWith(daemon, SECRET)).toEqual([]);
  },
);
