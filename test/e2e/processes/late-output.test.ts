import { expect } from 'vitest';

import { daemonTest } from '../../support/daemon-test.js';

const it = daemonTest();

const ROUNDS = 5;

it.for([
  ['a filter of the output', 'echo a > >(sed s/a/b/)', 'b\n'],
  ['a filter that prints at the end of its input', '{ echo 1; echo 2; } > >(tac)', '2\n1\n'],
  ['filters in a row', 'echo b > >(grep b | sort | tr b c)', 'c\n'],
  ['a copy of the output', 'echo a | tee >(tr a b) >/dev/null', 'b\n'],
  ['the rest of a text', 'exec > >(sed s/^/_/); echo a', '_a\n'],
])('a result has what comes late of %s', async ([, command = '', stdout], { client }) => {
  const { session_id } = await client.request('open_session', {});
  for (let round = 0; round < ROUNDS; round += 1) {
    const ended = { stdout, exit_code: 0, background_processes: [], warnings: [] };
    expect(await client.run(command)).toMatchObject(ended);
    expect(await client.run(command, session_id)).toMatchObject({ stdout, exit_code: 0, warnings: [] });
  }
});

it('a result does not wait for a job whose input has ended', async ({ client }) => {
  const { session_id } = await client.request('open_session', {});
  const { background_processes: left } = await client.run(': | sleep 600 &', session_id);
  expect(left).toMatchObject([{ command: 'sleep 600' }]);
  expect(await client.run(': | sleep 600 &')).toMatchObject({ warnings: [{ code: 'BACKGROUND_ENDED' }] });
});
