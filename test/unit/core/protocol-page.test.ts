import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { describe, expect, it } from 'vitest';

import { ERROR_CODES } from '../../../src/core/errors.js';
import { renderProtocolDocument } from '../../../src/core/descriptions/protocol-page.js';
import { type RequestName, requests } from '../../../src/core/protocol/requests.js';
import { events } from '../../../src/core/protocol/results.js';

const page = renderProtocolDocument();
const requestNames = Object.keys(requests) as RequestName[];

/** The part of the page under a heading, up to the next one of any level. */
const sectionOf = (heading: string): string => {
  const [, ...parts] = page.split(/^#+ /m);
  return parts.find((part) => part.startsWith(`${heading}\n`)) ?? '';
};

describe('the protocol page', () => {
  it('is the one in docs/', () => {
    const file = fileURLToPath(new URL('../../../docs/reference/protocol.md', import.meta.url));
    expect(readFileSync(file, 'utf8'), 'docs/reference/protocol.md is not current: run `npm run docs`').toBe(page);
  });

  it('is the same each time it is made', () => {
    expect(renderProtocolDocument()).toBe(page);
  });

  it('has tables whose rows have as many cells as their head', () => {
    const tables = page.split(/\n\n+/).filter((block) => block.startsWith('|'));
    expect(tables.length).toBeGreaterThan(requestNames.length);
    for (const table of tables) {
      const cells = table
        .trim()
        .split('\n')
        .map((line) => line.replaceAll('\\|', '').split('|').length);
      expect(new Set(cells).size, table).toBe(1);
    }
  });

  it('links only to headings that are there', () => {
    const headings = [...page.matchAll(/^#+ (.+)$/gm)].map(([, text = '']) =>
      text.toLowerCase().replaceAll('`', '').replaceAll(' ', '-'),
    );
    const targets = [...page.matchAll(/\]\(#([^)]+)\)/g)].map(([, target]) => target);
    expect(targets.filter((target) => !headings.includes(target!))).toEqual([]);
    expect(targets).toContain('command-result');
  });
});

describe.each(requestNames)('%s on the protocol page', (name) => {
  const section = sectionOf(`\`${name}\``);

  it('has its summary and every field that it takes', () => {
    expect(section).toContain(requests[name].summary);
    for (const field of Object.keys(requests[name].input.shape)) expect(section).toContain(`\`${field}\``);
  });

  it('has an example that is a valid request', () => {
    expect(section).toContain(JSON.stringify(requests[name].example));
    expect(requests[name].input.safeParse(requests[name].example).error).toBeUndefined();
  });
});

describe('what the protocol page says of fields', () => {
  it.each([
    ['a required text', '`execute_command`', '| `command` | string | yes |'],
    ['an optional number, with its bounds', '`execute_command`', '| `timeout_ms` | integer, 1 to 2147483647 |  |'],
    ['a field of a nested object', '`execute_command`', '| `output.encoding` | `"utf8"`, `"base64"` |  |'],
    ['a mapping', '`open_session`', '| `env` | map of name to string |  |'],
    ['a list', '`execute_command`', '| `args` | list of string |  |'],
    ['bytes', '`read_output`', '| `data` | bytes | yes |'],
    ['text or bytes', '`command_output`', '| `data` | string or bytes | yes |'],
    ['what may be null', 'Command result', '| `exit_code` | integer or null | yes |'],
    ['a moment', 'Session', '| `created_at` | string, ISO 8601 in UTC | yes |'],
    ['what is not always there', 'Command result', '| `spool_error` | string |  |'],
    [
      'a list of a described shape',
      '`list_sessions`',
      '| `sessions` | list of object | yes | Each is a [session](#session) |',
    ],
    ['fields of the entries of a list', 'Command result', '| `warnings[].code` | string | yes |'],
  ])('%s', (_what, heading, row) => {
    expect(sectionOf(heading)).toContain(row);
  });

  it('repeats no fields of a shape that it links to', () => {
    expect(sectionOf('`list_sessions`')).not.toContain('sessions[].');
    expect(sectionOf('`wait_command`')).not.toContain('original_stdout_size');
  });
});

it.each(Object.entries(events))('%s on the protocol page has its summary', (name, { summary }) => {
  expect(sectionOf(`\`${name}\``)).toContain(summary);
});

it.each(Object.entries(ERROR_CODES))('%s on the protocol page has its meaning', (code, meaning) => {
  expect(sectionOf('Error codes')).toContain(`| \`${code}\` | ${meaning} |`);
});
