import { expect, it } from 'vitest';

import type { AdapterClient } from '../../../../src/client/index.js';
import { LiveData } from '../../../../src/dashboard/state/live.js';

const command = (owner: string, command_id: string) => ({ owner, command_id, session_id: null, state: 'running' });

/** Live data, and what sends it an event. */
async function followed() {
  const listeners = new Map<string, (payload: unknown) => void>();
  const history = { memory_bytes: 1, disk_bytes: 1, cpus: 1, at: [] };
  const client = {
    on: (name: string, listener: (payload: unknown) => void) => listeners.set(name, listener),
    request: (name: string) => Promise.resolve(name === 'host_history' ? history : {}),
    listConfirmations: () => Promise.resolve([]),
  };
  const live = new LiveData();
  await live.begin(client as unknown as AdapterClient);
  const send = (commands: readonly object[], complete?: true) =>
    listeners.get('commands_changed')!({ commands, complete });
  return { live, send, ids: () => [...live.commands.value!.values()].map(({ command_id: id }) => id) };
}

it('keeps commands of different owners with the same id apart', async () => {
  const { live, send } = await followed();
  send([command('one', 'build'), command('other', 'build')], true);
  send([{ ...command('other', 'build'), state: 'ended' }]);
  expect([...live.commands.value!.values()].map(({ owner, state }) => [owner, state])).toEqual([
    ['other', 'ended'],
    ['one', 'running'],
  ]);
});

it('drops the oldest commands first, though the first report begins with the newest', async () => {
  const { send, ids } = await followed();
  send(
    Array.from({ length: 1000 }, (_, index) => command('one', `early-${999 - index}`)),
    true,
  );
  send(Array.from({ length: 1001 }, (_, index) => command('one', `late-${index}`)));
  expect(ids()).toHaveLength(2000);
  expect(ids()).not.toContain('early-0');
  expect(ids()).toEqual(expect.arrayContaining(['early-1', 'early-999', 'late-1000']));
});
