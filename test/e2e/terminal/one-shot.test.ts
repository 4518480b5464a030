import { describe, expect } from 'vitest';

import { daemonTest } from '../../support/daemon-test.js';
import type { WireClient } from '../../support/wire.js';

const it = daemonTest();

describe('a command without a session that has a terminal', () => {
  const begin = async (client: WireClient, command: string): Promise<string> => {
    const { command_id: id } = await client.run(command, undefined, { tty: true, background: true });
    expect(await client.request('wait_for', { command_id: id, pattern: 'ready' })).toMatchObject({ met: true });
    return id;
  };

  it('takes what is typed, and shows its screen, by its id', async ({ client }) => {
    const id = await begin(client, 'echo ready; read -r name; echo "hello $name"; sleep 600');
    await client.request('send_input', { command_id: id, data: 'ann\r' });
    const shown = await client.request('wait_for', { command_id: id, screen_text: 'hello ann' });
    expect(shown).toMatchObject({ met: true });
    await client.request('signal_command', { command_id: id, signal: 'SIGKILL' });
    expect(await client.request('wait_command', { command_id: id })).toMatchObject({ status: 'killed' });
  });

  it('gets signals by its id', async ({ client }) => {
    const id = await begin(client, 'echo ready; sleep 600');
    const { signalled } = await client.request('signal_command', { command_id: id, signal: 'SIGTERM' });
    expect(signalled).toMatchObject([{ command: 'sleep 600' }]);
    expect(await client.request('wait_command', { command_id: id })).toMatchObject({ exit_code: 143 });
  });
});
