import { setImmediate as turn } from 'node:timers/promises';

import { describe, expect, it } from 'vitest';

import { ScriptedWorker, scriptedClient, scriptedCommand, scriptedLink } from './scripted-link.js';

describe('what comes over a link in one turn of the event loop', () => {
  it('reaches the client in the same order: output before the reply that ends it, and after the one before it', async () => {
    const worker = new ScriptedWorker();
    const seen: unknown[] = [];
    const caller = scriptedClient(seen);
    await using link = scriptedLink([() => worker.dialled()]);
    await link.attempted;
    const requests = ['first', 'second', 'third'].map(async (id) => {
      await link.request(scriptedCommand(caller, id));
      // A reply reaches the client some promises later.
      for (let promises = 0; promises < 20; promises += 1) await undefined;
      seen.push(`reply to ${id}`);
    });
    const output = (seq: number) => {
      const payload = { command_id: 'second', session_id: 's', stream: 'stdout', offset: 0, data: 'x', seq };
      worker.send('event', { client: 'client', name: 'command_output', payload, bytes: 257 });
    };
    worker.answer(0, { command_id: 'first' });
    output(0);
    output(1);
    worker.send('event', { client: 'client', name: 'command_finished', payload: {}, bytes: 256 });
    worker.answer(1, { command_id: 'second' });
    worker.answer(2, { command_id: 'third' });
    output(2);
    await Promise.all(requests);
    while (seen.length < 7) await turn();
    expect(seen).toEqual([
      'reply to first',
      ...['command_output', 'command_output', 'command_finished'],
      ...['reply to second', 'reply to third', 'command_output'],
    ]);
  });

  it('is followed by what the end of the link makes of the sessions that it has opened', async () => {
    const worker = new ScriptedWorker();
    const seen: unknown[] = [];
    const caller = scriptedClient(seen);
    await using link = scriptedLink([() => worker.dialled()]);
    await link.attempted;
    const requests = [
      link.request(scriptedCommand(caller, 'first')).then(() => seen.push('reply')),
      link.request({ name: 'open_session', payload: {}, caller, repeat: 'never' }).then(() => seen.push('opened')),
    ];
    worker.answer(0, { command_id: 'first' });
    worker.send('event', { client: 'client', name: 'command_finished', payload: {}, bytes: 256 });
    worker.answer(1, { session_id: 's' });
    worker.break();
    await Promise.all(requests);
    while (seen.length < 4) await turn();
    expect(seen).toEqual(['reply', 'command_finished', 'opened', 'session_detached']);
  });
});
