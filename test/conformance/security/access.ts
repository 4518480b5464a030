import { describe, expect, test } from 'vitest';

import type { RequestName } from '../../../src/core/protocol/requests.js';
import { ask } from '../../support/http.js';
import { WireClient } from '../../support/wire.js';
import type { SecurityTarget } from './target.js';

type Headers = Readonly<Record<string, string>>;

/** Headers by which a web page, a foreign name or a proxy shows: none of them gets in without a token. */
const FOREIGN: readonly (readonly [title: string, headers: Headers])[] = [
  ['a web page', { origin: 'https://page.example' }],
  ['a page of a file', { origin: 'null' }],
  ['a name that was bound to this address', { host: 'page.example' }],
  ['a name that begins like this machine', { host: 'localhost.page.example:80' }],
  ['an address in another notation', { host: '2130706433' }],
  ['a proxy', { 'x-forwarded-for': '192.0.2.1' }],
  ['a proxy, by the standard', { forwarded: 'for=192.0.2.1' }],
  ['a gateway', { via: '1.1 gateway' }],
];

/** Requests that change something: not for those that may only look. */
const CHANGING: readonly (readonly [RequestName, object])[] = [
  ['open_session', {}],
  ['execute_command', { command: 'true' }],
  ['check_command', { command: 'true' }],
  ['confirm_command', { confirmation_id: 'none', decision: 'reject' }],
  ['send_input', { session_id: 'none', data: 'x' }],
  ['signal_command', { session_id: 'none', signal: 'SIGINT' }],
  ['close_session', { session_id: 'none' }],
  ['reset_session', { session_id: 'none' }],
  ['checkpoint_workspace', {}],
  ['restore_workspace', { checkpoint_id: 'none' }],
  ['llm_call', { messages: [{ role: 'user', content: 'x' }] }],
];

async function outcomeOf(url: string, options: { token?: unknown; headers?: Record<string, string> }): Promise<string> {
  try {
    await using client = await WireClient.connect(url, ['websocket'], options);
    return client.socket.connected ? 'let in' : 'refused';
  } catch {
    // Whatever the daemon says: it has not let the client in.
    return 'refused';
  }
}

/** Who gets in, and what a role may do. */
export function access(target: () => SecurityTarget): void {
  describe('access', () => {
    test.each(FOREIGN)('%s is not let in without a token', async (_, headers) => {
      expect(await outcomeOf(target().url, { headers: { ...headers } })).toBe('refused');
    });

    // Few: a daemon may make their address wait.
    test.each([
      ['a wrong one', `sat_${'A'.repeat(43)}`],
      ['an object', { $ne: null }],
    ])('a token that is %s is refused', async (_, token) => {
      expect(await outcomeOf(target().url, { token })).toBe('refused');
    });

    test('a token in the address is none', async () => {
      const { url } = target();
      const { status } = await ask(new URL('/mcp?token=sat_x&access_token=sat_x', url), {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': '192.0.2.1' },
        body: '{}',
      });
      expect([400, 401, 403, 404, 406, 429]).toContain(status);
    });

    test('pages of other sites may not read health and metrics', async () => {
      for (const path of ['/metrics', '/healthz', '/readyz', '/v1/models']) {
        const { status } = await ask(new URL(path, target().url), { headers: { origin: 'https://page.example' } });
        expect([401, 403, 404], path).toContain(status);
      }
    });

    test.for(CHANGING)('a viewer is refused: %s', async ([name, payload], context) => {
      target().needs(context, 'viewer');
      const viewer = await target().connect('viewer');
      const answer = (await viewer.socket.emitWithAck(name, payload)) as { error?: { code: string } };
      expect(answer.error?.code).toBe('FORBIDDEN');
    });
  });
}
