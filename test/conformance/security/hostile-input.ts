import { describe, expect, test } from 'vitest';

import type { WireClient } from '../../support/wire.js';
import { ask } from '../../support/http.js';
import type { SecurityTarget } from './target.js';

/** Longest time for a verdict on a hostile text, and for another client's command meanwhile, in milliseconds. */
const MOST_MS = 2000;

/** Texts that readers of shell syntax stumble over. */
const TEXTS: readonly (readonly [title: string, text: string])[] = [
  ['500,000 blanks', `echo${' '.repeat(500_000)}x`],
  ['20,000 open substitutions', '$('.repeat(20_000)],
  ['20,000 substitutions that are closed', `${'$('.repeat(20_000)}x${')'.repeat(20_000)}`],
  ['10,000 backquotes', '`'.repeat(10_000)],
  ['20,000 braces', `${'{'.repeat(20_000)}x${'}'.repeat(20_000)}`],
  ['braces that multiply', `echo ${'{a,b}'.repeat(60)}`],
  ['ranges that multiply', `echo ${'{1..9999}'.repeat(8)}`],
  ['2,000 here-documents', Array.from({ length: 2000 }, (_, index) => `cat <<E${index}`).join('\n')],
  ['5,000 nested conditions', `${'if true; then '.repeat(5000)}:${'; fi'.repeat(5000)}`],
  ['5,000 nested quotations', `sh -c "`.repeat(5000)],
  ['10,000 backslashes', '\\'.repeat(10_000)],
  ['an arithmetic expression without end', `echo $((${'('.repeat(20_000)}1`],
  ['20,000 commands', 'true;'.repeat(20_000)],
  ['20,000 pipes', 'cat|'.repeat(20_000)],
  ['20,000 redirections', `cat ${'<x '.repeat(20_000)}`],
  ['20,000 assignments', 'a=$a '.repeat(20_000)],
  [
    'variables of variables',
    Array.from({ length: 3000 }, (_, index) => `v${index + 1}=$v${index}$v${index}`).join('\n'),
  ],
  ['patterns that backtrack', `ls ${'*'.repeat(2000)}!`],
  ['half of a surrogate pair', '\uD800 \uDC00\uD800'],
  ['characters that turn the direction of reading', '\u202e\u2066'.repeat(5000)],
];

/** Characters of a message that no daemon takes: the largest ones that it reads by default have 8 MiB. */
const LARGE = 6 * 1024 * 1024;

/** Levels of arrays or objects in one another. */
const NESTING = 1000;

/** Names that a careless object has by birth. */
const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf'];

/** Names of variables that would be code, or an array's subscript. */
const VARIABLES = ['a[$(true)]', 'A;true', 'BASH_FUNC_ls%%', 'A B', '', '1A', 'A=B', 'a\nb', '$(true)'];

/** Messages that make no sense, are too large or too deep: answered by an error, while others go on. */
export function hostileInput(target: () => SecurityTarget): void {
  describe('hostile input', () => {
    test.for(TEXTS)('a verdict comes in time on %s', async ([, command]) => {
      const [client, witness] = [await target().connect('agent'), await target().connect('agent')];
      const started = performance.now();
      const [answer, { stdout }] = await Promise.all([
        client.socket.timeout(MOST_MS * 5).emitWithAck('check_command', { command }) as Promise<object>,
        witness.run('echo here'),
      ]);
      expect(performance.now() - started, 'milliseconds').toBeLessThan(MOST_MS);
      expect(JSON.stringify(answer)).not.toContain('INTERNAL');
      expect(stdout).toBe('here\n');
    });

    test.for(NAMES)('%s is no request, and no field of one', async (name) => {
      const client = await target().connect('agent');
      expect(await codeOf(client, name, {})).toBe('UNKNOWN_REQUEST');
      const payload = JSON.parse(`{"${name}": {"cwd": "/nonexistent"}}`) as object;
      expect(await codeOf(client, 'list_sessions', payload)).toBe('INVALID_REQUEST');
      expect(await codeOf(client, 'get_session', { session_id: name })).toBe('SESSION_NOT_FOUND');
      expect(await codeOf(client, 'wait_command', { command_id: name, timeout_ms: 0 })).toBe('COMMAND_NOT_FOUND');
    });

    test.for(VARIABLES)('%j is not the name of a variable', async (name) => {
      const client = await target().connect('agent');
      const env = Object.fromEntries([[name, 'x']]);
      expect(await codeOf(client, 'execute_command', { command: 'true', env })).toBe('INVALID_REQUEST');
      expect(await codeOf(client, 'open_session', { env })).toBe('INVALID_REQUEST');
    });

    test('a message that is too large is refused, and its connection goes on or is closed', async () => {
      const [client, witness] = [await target().connect('agent'), await target().connect('agent')];
      const closed = new Promise((resolve) => client.socket.once('disconnect', () => resolve('PAYLOAD_TOO_LARGE')));
      const code = codeOf(client, 'check_command', { command: 'x'.repeat(LARGE) });
      expect(await Promise.race([closed, code.catch(() => 'PAYLOAD_TOO_LARGE')])).toBe('PAYLOAD_TOO_LARGE');
      expect((await witness.run('echo here')).stdout).toBe('here\n');
    });

    test.for(['[', '{"a":'])('JSON that is nested deep with %s is a wrong request, no failure', async (open) => {
      const close = open === '[' ? ']' : '}';
      const body = `${open.repeat(NESTING)}1${close.repeat(NESTING)}`;
      for (const path of ['/mcp', '/v1/chat/completions']) {
        const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
        const { status } = await ask(new URL(path, target().url), { method: 'POST', headers, body });
        expect(status, path).toBeGreaterThanOrEqual(400);
        expect(status, path).toBeLessThan(500);
      }
    });
  });
}

async function codeOf(client: WireClient, name: string, payload: object): Promise<string | undefined> {
  const answer = (await client.socket.timeout(MOST_MS * 5).emitWithAck(name, payload)) as { error?: { code: string } };
  return answer.error?.code;
}
