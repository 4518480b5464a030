import { setTimeout as sleep } from 'node:timers/promises';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

import { inRounds } from '../measure.mjs';

/** The floor is the same one-shot over Socket.IO. */
export const mcp = {
  name: 'run_command over MCP',
  target: 1.5,
  async run({ daemon, short }) {
    const client = new Client({ name: 'bench', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${daemon.url}/mcp`)));
    const measured = await inRounds({
      rounds: short ? 2 : 24,
      runs: short ? 10 : 20,
      warmUp: short ? 10 : 300,
      floor: () => daemon.request('execute_command', { command: 'echo hello' }),
      ours: async () => {
        const { isError, content } = await client.callTool({
          name: 'run_command',
          arguments: { command: 'echo hello' },
        });
        if (isError) throw new Error(content[0].text);
      },
      pause: () => sleep(10),
    });
    await client.close();
    return measured;
  },
};
