import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { TestDaemon } from '../../support/daemon.js';
import { WireClient } from '../../support/wire.js';
import { missing, Screen, startShipped } from './tmux.js';

const noTmux = missing('tmux') !== undefined;

describe.skipIf(noTmux)('attach --input with the shipped configuration (needs tmux)', () => {
  let daemon: TestDaemon;
  let client: WireClient;
  beforeAll(async () => {
    daemon = await startShipped();
    client = await WireClient.connect(daemon.url);
  });
  afterAll(async () => {
    await client[Symbol.asyncDispose]();
    await daemon[Symbol.asyncDispose]();
  });

  /** Starts a program in a session, as an agent does that was allowed to. */
  async function start(command: string): Promise<{ session_id: string; command_id: string }> {
    const session_id = await client.openSession();
    const request = { cwd: daemon.workspace, tty: true, background: true, stream: true };
    const { status, confirmation_id, command_sha256, command_id } = await client.run(command, session_id, request);
    expect(status).toBe('confirmation_required');
    const approval = { decision: 'approve', justification: 'a test' } as const;
    await client.request('confirm_command', {
      ...approval,
      confirmation_id: confirmation_id!,
      command_sha256: command_sha256!,
    });
    return { session_id, command_id };
  }

  const attach = (session_id: string) => new Screen(daemon.url, ['attach', session_id, '--input', '--from-seq', '0']);

  it.skipIf(missing('vim'))('every key reaches vim, and its size is that of this terminal', async () => {
    const { session_id, command_id } = await start('vim attached.txt');
    using screen = attach(session_id);
    await screen.until(/^~$/m);
    screen.type('ityped by attach');
    screen.press('Escape');
    screen.type(':set lines? columns?');
    screen.press('Enter');
    await screen.until(/lines=30\s+columns=100/);
    screen.press('Enter');
    screen.type(':wq');
    screen.press('Enter');
    expect(await client.request('wait_command', { command_id })).toMatchObject({ exit_code: 0 });
    expect(readFileSync(join(daemon.workspace, 'attached.txt'), 'utf8')).toBe('typed by attach\n');
    screen.press('C-]');
    await screen.until(/\[exit 0\]/);
  });

  it.skipIf(missing('python3'))('python3 gets lines and Ctrl-C, and goes on after Ctrl-]', async () => {
    const { session_id, command_id } = await start('python3 -q');
    using screen = attach(session_id);
    await screen.until(/>>>$/m);
    screen.type('6 * 7');
    screen.press('Enter');
    await screen.until(/^42$/m);
    screen.press('C-c');
    await screen.until(/KeyboardInterrupt/);
    screen.press('C-]');
    await screen.until(/\[exit 0\]/);
    await client.request('send_input', { command_id, data: 'exit(4)\n' });
    expect(await client.request('wait_command', { command_id })).toMatchObject({ exit_code: 4 });
  });

  it('a key that cannot be delivered is reported, once until that changes', async () => {
    const session_id = await client.openSession();
    using screen = attach(session_id);
    await screen.until(/^/m);
    screen.type('ls');
    await screen.until(/not sent: nothing runs in session/);
    const running = client.run('read -p "name? " x; printf "one\\ntwo\\n%s\\n" "$x"', session_id, { stream: true });
    await screen.until(/the command waits for input/);
    screen.type('Ada');
    screen.press('Enter');
    expect((await running).stdout).toContain('Ada');
    // Output of pipes has no carriage returns of its own.
    await screen.until(/^one\ntwo\n.*Ada$/m);
    expect(screen.text.match(/not sent/g)).toHaveLength(1);
    await client.request('close_session', { session_id });
    await screen.until(/\[exit 0\]/);
  });
});
