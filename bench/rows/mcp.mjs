import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

import { inRounds } from '../measure.mjs';

/** The floor is the same request over Socket.IO. */
export const mcp = {
  name: 'run_command over MCP',
  target: 1.5,
  async run({ daemon, short }) {
    const client = new Client({ name: 'bench', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${daemon.url}/mcp`)));
    const { session_id } = await daemon.request('open_session');
    const measured = await inRounds({
      rounds: short ? 2 : 24,
      runs: short ? 10 : 30,
      warmUp: short ? 10 : 300,
      floor: () => daemon.request('execute_command', { session_id, command: 'echo hello' }),
      ours: () => client.callTool({ name: 'run_command', arguments: { session_id, command: 'echo hello' } }),
    });
    await client.close();
    return measured;
  },
};
