import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterEach, beforeEach, expect, it } from 'vitest';

const SCRIPT = fileURLToPath(new URL('../../../scripts/check-markdown.mjs', import.meta.url));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'shell-adapter-markdown-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const words = (count: number): string => Array.from({ length: count }, (_, index) => `w${String(index)}`).join(' ');

/** Checks pages; gives the exit code and what was printed. */
async function check(
  pages: Readonly<Record<string, string>>,
): Promise<{ readonly code: number; readonly lines: string[] }> {
  for (const [path, text] of Object.entries(pages)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return new Promise((resolve) => {
    execFile(process.execPath, [SCRIPT, folder], (error, stdout) => {
      resolve({ code: Number(error?.code ?? 0), lines: stdout.split('\n').filter(Boolean) });
    });
  });
}

it.each([
  ['a file', '[a](docs/b.md)'],
  ['a folder', '[a](docs)'],
  ['a heading of another page', '[a](docs/b.md#a-b-code-and-c)'],
  ['the second heading of the same text', '[a](docs/b.md#twice-1)'],
  ['a heading of the page itself', '# Top\n\n[a](#top)'],
  ['another site', '[a](https://example.org/nothing)'],
  ['code', '`[a](nowhere.md)`'],
  ['a fenced block', '```text\n[a](nowhere.md)\n# no heading\n```'],
  ['a comment', '<!-- [a](nowhere.md) -->'],
])('accepts a link to %s', async (_name, text) => {
  const result = await check({ 'README.md': text, 'docs/b.md': '# A b, `code` and c!\n\n## Twice\n\n## Twice\n' });
  expect(result).toEqual({ code: 0, lines: [] });
});

it.each([
  ['a file that is missing', 'one\n\n[a](nowhere.md)', 'README.md:3: nowhere.md: there is no such file'],
  ['a heading that is missing', '[a](docs/b.md#c)', 'README.md:1: docs/b.md#c: there is no such heading'],
  ['a heading in a fenced block', '```text\n# Top\n```\n\n[a](#top)', 'README.md:5: #top: there is no such heading'],
  ['a file outside', '[a](../b.md)', 'README.md:1: ../b.md: leads out of the folder'],
  ['a definition', '[a]: nowhere.md', 'README.md:1: nowhere.md: there is no such file'],
])('refuses a link to %s', async (_name, text, line) => {
  expect(await check({ 'README.md': text, 'docs/b.md': '# B\n' })).toEqual({ code: 1, lines: [line] });
});

it.each([
  ['35 words', `${words(35)}.`],
  ['two sentences', `${words(30)}. ${words(30)}.`],
  ['list items', `- ${words(30)}\n- ${words(30)}`],
  ['table cells', `| ${words(30)} | ${words(30)} |`],
  ['a fenced block', `\`\`\`text\n${words(50)}\n\`\`\``],
])('accepts %s', async (_name, text) => {
  expect(await check({ 'docs/guide/a.md': text })).toEqual({ code: 0, lines: [] });
});

it('refuses a sentence of more than 35 words in the manual, over line breaks too', async () => {
  const text = `Short.\n\n${words(20)}\n${words(16)}. Short.`;
  const message = 'a sentence of 36 words; at most 35: w0 w1 w2 w3 w4 w5 …';
  const result = await check({
    'docs/guide/a.md': text,
    'docs/develop/b.md': `${words(36)}.`,
    'README.md': `- ${words(36)}.`,
  });
  expect(result.code).toBe(1);
  expect(result.lines.toSorted()).toEqual([
    `README.md:1: ${message}`,
    `docs/develop/b.md:1: ${message}`,
    `docs/guide/a.md:3: ${message}`,
  ]);
});

it('accepts long sentences in generated pages and in the changelog', async () => {
  const generated = `# Page\n\n<!-- Generated from src by \`npm run docs\`. -->\n\n${words(50)}.`;
  const pages = { 'docs/reference/a.md': generated, 'CHANGELOG.md': `${words(50)}.` };
  expect(await check(pages)).toEqual({ code: 0, lines: [] });
});
