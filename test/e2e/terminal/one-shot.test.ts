import { describe, expect } from 'vitest';

import { daemonTest } from '../../support/daemon-test.js';
import { WireClient } from '../../support/wire.js';

const it = daemonTest();

describe('a command without a session that has a terminal', () => {
  const begin = async (client: WireClient, command: string, stream = false): Promise<string> => {
    const { command_id: id } = await client.run(command, undefined, { tty: true, background: true, stream });
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

  it('is followed by a repeated request over another connection', async ({ daemon, client }) => {
    const command = 'echo ready; read -r name; echo "hello $name"';
    const command_id = await begin(client, command, true);
    const again = await WireClient.connect(daemon.url);
    const repeated = again.run(command, undefined, { tty: true, command_id, stream: true });
    // Requests of one connection begin in their order.
    await again.request('send_input', { command_id, data: 'ann\r' });
    expect(await repeated).toMatchObject({ exit_code: 0 });
    expect(await again.event('command_output')).toMatchObject({ command_id, stream: 'stdout' });
    await again[Symbol.asyncDispose]();
  });
});
