import { describe, expect, it } from 'vitest';

import { Command } from '../../../../src/engine/command/command.js';
import { SpoolBudget } from '../../../../src/engine/output/spool.js';
import { OutputChannel } from '../../../../src/services/registry/output-channel.js';

const MIB = 1024 * 1024;

/** A channel with one client, and what has been held. */
function setUp() {
  const client = { pending: 0, events: [] as string[] };
  const holds: [string, boolean][] = [];
  const channel = new OutputChannel('s', MIB, (command, isHeld) => holds.push([command.id, isHeld]));
  channel.follow({
    id: 'client',
    send: (event) => client.events.push(event),
    pendingBytes: () => client.pending,
  });
  const begin = (id: string) => {
    const spec = { id, command: '', timeoutMs: 1000, tty: false, limits: { maxSize: 9, beginSize: 3, endSize: 6 } };
    const command = new Command(spec, { spoolDirectory: '/nonexistent', budget: new SpoolBudget(0) });
    channel.begin(command);
    channel.open(command);
    return command;
  };
  const print = (command: Command) => {
    command.stdout.write(Buffer.from('text'));
    channel.flush();
  };
  return { client, holds, channel, begin, print };
}

const END = { exitCode: 0, sessionState: 'alive', workingDirectory: '/' } as const;

describe('a client that is behind', () => {
  it('holds the running command, and lets it go when it has caught up', () => {
    const { client, holds, channel, begin, print } = setUp();
    const command = begin('a');
    client.pending = 2 * MIB;
    print(command);
    expect(holds).toEqual([['a', true]]);
    client.pending = 0;
    print(command);
    expect(holds).toEqual([
      ['a', true],
      ['a', false],
    ]);
    channel[Symbol.dispose]();
  });

  it('holds what a command has left running too, each once', async () => {
    const { client, holds, channel, begin, print } = setUp();
    const command = begin('a');
    command.finish(END);
    await command.finished;
    client.pending = 2 * MIB;
    print(command);
    print(command);
    expect(holds).toEqual([['a', true]]);
    client.pending = 0;
    print(command);
    expect(holds.at(-1)).toEqual(['a', false]);
    channel[Symbol.dispose]();
  });

  it('lets a command go that ends meanwhile, so that its background jobs are not held for ever', async () => {
    const { client, holds, channel, begin, print } = setUp();
    const command = begin('a');
    client.pending = 2 * MIB;
    print(command);
    command.finish(END);
    await command.finished;
    expect(holds).toEqual([
      ['a', true],
      ['a', false],
    ]);
    channel[Symbol.dispose]();
    // A client that stays behind is looked at until it has gone.
    client.pending = 0;
  });
});
