import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { followPage } from './follow-page.js';
import { type PagePort, SHOWN_PORT, takePort } from './port.js';
import { makeHomes, Reader } from './reader.js';
import { readBlocks } from './transcript.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Begins in a fresh clone, and installs the command that the other pages use. */
const FIRST_PAGE = 'README.md';
/** Begins in a fresh clone too, and says more about the installation. The dependencies are there: the first page has installed them. */
const INSTALLATION_PAGE = 'docs/guide/getting-started.md';
/** Its examples need programs and accounts of other vendors; `npm run test:real-agents` tries what can be tried. */
const UNTRIED = ['docs/guide/agents.md'];

const pagesIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder)).flatMap((name) => (name.endsWith('.md') ? [`${folder}/${name}`] : []));
const PAGES = [...pagesIn('docs/guide'), ...pagesIn('docs/operate')].filter((page) => !UNTRIED.includes(page));

const homes = makeHomes();
let port: PagePort;
let installation: Promise<Reader> | undefined;
/** What git finds changed in the fresh clone: what is not committed here. */
let changes = '';

beforeAll(async () => {
  port = await takePort();
  if (port.port !== SHOWN_PORT)
    console.warn(`port ${String(SHOWN_PORT)} is taken: the pages run with ${String(port.port)}`);
});
afterAll(async () => {
  await port[Symbol.asyncDispose]();
  homes[Symbol.dispose]();
});

const readPage = (page: string): string =>
  readFileSync(join(ROOT, page), 'utf8').replaceAll(String(SHOWN_PORT), String(port.port));

const follow = (page: string, reader: Reader): Promise<void> => followPage(page, readPage(page), reader);

const readerAt = (name: string): Reader =>
  new Reader(join(homes.path, name), port.port === SHOWN_PORT ? undefined : String(port.port));

/** Follows the README in a fresh clone; the other readers begin with what that has installed. */
function installed(): Promise<Reader> {
  installation ??= (async () => {
    const reader = readerAt('first');
    reader.cloneRepository();
    changes = reader.changesInClone();
    await follow(FIRST_PAGE, reader);
    expect(reader.changesInClone(), 'what the page leaves in the clone').toBe(changes);
    return reader;
  })();
  return installation;
}

describe('a reader who follows the page from the top in a fresh clone', () => {
  it(FIRST_PAGE, async () => {
    await installed();
  });

  it(INSTALLATION_PAGE, async () => {
    const reader = readerAt('installation');
    const first = await installed();
    reader.cloneRepository();
    reader.shareDependencies(first);
    await follow(INSTALLATION_PAGE, reader);
  });

  it.each(PAGES.filter((page) => page !== INSTALLATION_PAGE))('%s', async (page) => {
    const first = await installed();
    const reader = readerAt(page.replaceAll('/', '-'));
    reader.shareInstallation(first);
    await follow(page, reader);
    expect(reader.changesInClone(), 'what the page leaves in the clone').toBe(changes);
  });
});

describe.each([FIRST_PAGE, ...PAGES])('%s', (page) => {
  const blocks = readBlocks(readFileSync(join(ROOT, page), 'utf8'));

  it('has no example that is not tried', () => {
    const languages = ['', 'bash', 'html', 'js', 'py', 'python', 'sh', 'shell', 'ts', 'yaml', 'yml'];
    const untried = blocks.filter(({ language, fileName }) => languages.includes(language) && fileName === undefined);
    expect(untried.map(({ line }) => line)).toEqual([]);
    const typed = blocks
      .filter(({ language }) => language === 'console')
      .map(({ text }) => text)
      .join('');
    for (const { fileName } of blocks) if (fileName !== undefined) expect(typed).toContain(fileName);
  });
});

it('has a page for each name that the tests know', () => {
  for (const page of [FIRST_PAGE, INSTALLATION_PAGE]) expect(existsSync(join(ROOT, page)), page).toBe(true);
});
