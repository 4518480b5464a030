import type { Page } from 'playwright-core';

import { hrefOf } from '../../../src/dashboard/route.js';
import type { WireClient } from '../../support/wire.js';

/** A view of a page: how it is reached, and when it is complete. */
export interface View {
  readonly name: string;
  readonly route: string;
  /** Resolves when all of it is shown. */
  readonly isReady: (page: Page) => Promise<unknown>;
}

/** Ids of what the views show. */
interface Shown {
  readonly session: string;
  readonly command: string;
  readonly checkpoint: string;
  readonly recording: string;
}

/** Gives a daemon something to show on every page. A confirmation that waits is left to the test. */
export async function fill(client: WireClient): Promise<Shown> {
  const { session_id: session, recording_id: recording } = await client.request('open_session', {
    label: 'shown everywhere',
    record: true,
  });
  await client.run('echo first > file.txt', session);
  const { checkpoint_id: checkpoint } = await client.request('checkpoint_workspace', { label: 'a checkpoint' });
  const command = 'echo a new line >> file.txt; echo to-stdout; echo to-stderr >&2; false';
  const { command_id: id } = await client.run(command, session);
  await client.run('sleep 600', session, { background: true });
  return { session, command: id, checkpoint, recording: recording ?? '' };
}

/** Every view of every page that an admin may open. */
export const allViews = (shown: Shown): readonly View[] => [
  ...sessionViews(shown),
  ...dataViews(shown),
  ...SUPERVISION_VIEWS,
  ...UNKNOWN_VIEWS,
];

/** A text of the page. */
const text = (wanted: string | RegExp) => (page: Page) => page.locator('main').getByText(wanted).first().waitFor();

/** An element that a selector names; the one of an index. */
const element =
  (selector: string, index = 0) =>
  (page: Page) =>
    page.locator(selector).nth(index).waitFor();

const sessionViews = ({ session, command }: Shown): readonly View[] => [
  { name: 'terminal', route: hrefOf('sessions', [session]), isReady: element('.xterm-rows') },
  {
    name: 'terminal as text',
    route: hrefOf('sessions', [session], { view: 'terminal' }),
    isReady: async (page) => {
      await page.getByRole('button', { name: 'As text' }).click();
      await page.getByRole('log').getByText('to-stderr').first().waitFor();
    },
  },
  {
    name: 'timeline with a command',
    route: hrefOf('sessions', [session], { view: 'timeline', command }),
    isReady: (page) => page.getByRole('region', { name: 'Output: stdout' }).filter({ hasText: 'to-stdout' }).waitFor(),
  },
  {
    name: 'unknown command',
    route: hrefOf('sessions', [session], { view: 'timeline', command: 'command_no' }),
    isReady: text('There is no such command'),
  },
  { name: 'limits', route: hrefOf('sessions', [session], { view: 'limits' }), isReady: element('.resource', 3) },
];

const dataViews = ({ checkpoint, recording }: Shown): readonly View[] => [
  { name: 'checkpoints', route: hrefOf('checkpoints'), isReady: text('a checkpoint') },
  {
    name: 'checkpoint with its diff',
    route: hrefOf('checkpoints', [checkpoint]),
    isReady: async (page) => {
      await page.getByRole('button', { name: 'Show lines' }).click();
      await text('a new line')(page);
    },
  },
  {
    name: 'restore dialog',
    route: hrefOf('checkpoints', [checkpoint], { of: 'dialog' }),
    isReady: async (page) => {
      await page.getByRole('button', { name: 'Restore…' }).click();
      await page.getByRole('dialog').getByText('Will be as they were').waitFor();
    },
  },
  { name: 'recordings', route: hrefOf('recordings'), isReady: text('shown everywhere') },
  { name: 'player', route: hrefOf('recordings', [recording]), isReady: element('.xterm-rows') },
];

const SUPERVISION_VIEWS: readonly View[] = [
  { name: 'overview', route: hrefOf('overview'), isReady: element('.chart canvas', 5) },
  {
    name: 'machine as a table',
    route: hrefOf('overview', [], { show: 'busy' }),
    isReady: (page) => page.getByRole('button', { name: 'As table' }).click(),
  },
  {
    name: 'confirmations',
    route: hrefOf('confirmations'),
    isReady: element('.button.primary[aria-disabled=false]'),
  },
  { name: 'audit', route: hrefOf('audit'), isReady: text(/^Verified/) },
  { name: 'audit record', route: hrefOf('audit', ['1']), isReady: element('dialog pre') },
  {
    name: 'policy',
    route: hrefOf('policy'),
    isReady: async (page) => {
      await page.getByLabel(/^Command/).fill('ls; rm -rf /etc/nothing');
      await page.locator('.verdict').waitFor();
    },
  },
  { name: 'doctor', route: hrefOf('doctor'), isReady: element('.checks li') },
  {
    name: 'tokens with a new secret',
    route: hrefOf('tokens'),
    isReady: async (page) => {
      await page.getByLabel('Name').fill('made-here');
      await page.getByRole('button', { name: 'Create', exact: true }).click();
      await page.locator('.secret code').waitFor();
    },
  },
];

/** What an address of something that is not there shows. */
const UNKNOWN_VIEWS: readonly View[] = [
  { name: 'unknown page', route: hrefOf('nothing'), isReady: text('There is no such page') },
  { name: 'unknown session', route: hrefOf('sessions', ['session_no']), isReady: text('There is no such session') },
  { name: 'unknown checkpoint', route: hrefOf('checkpoints', ['cp_no']), isReady: text('There is no such checkpoint') },
  {
    name: 'unknown confirmation',
    route: hrefOf('confirmations', ['no']),
    isReady: text('There is no such confirmation'),
  },
  { name: 'unknown recording', route: hrefOf('recordings', ['rec_no']), isReady: text('There is no such recording') },
  { name: 'unknown record', route: hrefOf('audit', ['999999']), isReady: text('There is no such record') },
];
