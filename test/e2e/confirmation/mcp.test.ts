import { expect } from 'vitest';

import { daemonTest } from '../../support/daemon-test.js';
import { MCP_WAYS, McpClient } from '../../support/network/mcp.js';

const it = daemonTest({ settings: { confirmation: { mode: 'self', checkpoint: false } } });

it.for(MCP_WAYS)('a model confirms its own command over MCP by %s', async ([, way], { daemon }) => {
  await using client = await McpClient.connect(daemon.url, way);
  const { isError, answer } = await client.call('run_command', { command: 'echo gone; rm -f none' });
  expect({ isError, answer }).toMatchObject({
    isError: false,
    answer: { status: 'confirmation_required', reasons: expect.stringContaining('rm deletes') as string },
  });
  // The answer has the call to make, with all arguments but the justification.
  const next = String((answer as { readonly next?: unknown }).next);
  const valueOf = (name: string) => new RegExp(`${name}='([^']+)'`).exec(next)?.[1];
  const approval = {
    confirmation_id: valueOf('confirmation_id'),
    command_sha256: valueOf('command_sha256'),
    decision: 'approve',
    justification: 'it is not there',
  };
  expect(await client.call('confirm_command', approval)).toEqual({
    isError: false,
    answer: { exit_code: 0, stdout: 'gone\n', stderr: '' },
  });
  expect(await client.call('confirm_command', approval)).toMatchObject({
    isError: true,
    answer: { error: { code: 'CONFIRMATION_NOT_FOUND' } },
  });
});
