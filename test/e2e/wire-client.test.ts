import { expect, it } from 'vitest';

import { TestDaemon } from '../support/daemon.js';
import { WireClient } from '../support/wire.js';

it('the client of the tests waits for nothing any more when its daemon has died', async () => {
  await using daemon = await TestDaemon.startCold();
  await using client = await WireClient.connect(daemon.url);
  const running = client.run('sleep 600');
  const event = client.event('session_closed');
  daemon.signal('SIGKILL');
  await expect(running).rejects.toThrow('the connection ended before the answer to execute_command: transport');
  await expect(event).rejects.toThrow('the connection ended before what was waited for: transport');
  await expect(client.request('list_sessions')).rejects.toThrow('before the answer to list_sessions');
});
