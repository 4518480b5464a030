import { expect } from 'vitest';

import { daemonTest } from '../../support/daemon-test.js';

const it = daemonTest();

const LISTENS = 'import select, socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()';
const WAITS_FOR_BOTH = `python3 -c '${LISTENS}; print("Port? ", end="", flush=True); select.select([0, s], [], [])'`;

it.for([
  ['a read', `read -rp 'Name? ' name`, 'Name? ', 'certain'],
  ['a read without echo', `read -rsp 'Password: ' password`, 'Password: ', 'certain'],
  ['a program that waits for others too, with a prompt', WAITS_FOR_BOTH, 'Port? ', 'likely'],
])('%s is told', async ([, command = '', prompt, certainty], { client }) => {
  const { session_id } = await client.request('open_session', {});
  const { command_id } = await client.run(command, session_id, { background: true });
  const event = await client.event('awaiting_input', (told) => told.command_id === command_id);
  expect(event).toEqual({ command_id, session_id, prompt, certainty });
  await client.request('signal_command', { command_id, signal: 'SIGINT' });
  await client.request('wait_command', { command_id });
});

it.for([
  ['a server', 'python3 -m http.server --bind 127.0.0.1 0'],
  ['a program that waits for others too, without a prompt', `python3 -c '${LISTENS}; select.select([0, s], [], [])'`],
  ['a program that follows a file', '>log; tail -f log'],
])('%s is not', async ([, command = ''], { client }) => {
  const { session_id } = await client.request('open_session', {});
  const { command_id } = await client.run(command, session_id, { timeout_ms: 3000 });
  expect(client.all('awaiting_input').filter((told) => told.command_id === command_id)).toEqual([]);
});
