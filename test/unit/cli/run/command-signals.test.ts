import { expect, it } from 'vitest';

import { CommandSignals } from '../../../../src/cli/run/run-command.js';
import type { Context } from '../../../../src/cli/console/context.js';
import { type ClientCommand, ClientError } from '../../../../src/client/index.js';
import { Deferred } from '../../../../src/engine/system/promises.js';

/** Forwards SIGINT to a command that refuses its first signals with these codes; returns how often it got one. */
async function signalled(...refusals: readonly ('COMMAND_NOT_FOUND' | 'NO_RUNNING_COMMAND')[]) {
  let raise: (signal: NodeJS.Signals) => void = () => undefined;
  const context = {
    onSignal: (_signals: unknown, listener: typeof raise) => {
      raise = listener;
    },
  } as unknown as Context;
  const last = new Deferred<void>();
  let count = 0;
  const command = {
    result: new Promise(() => undefined),
    signal: async (name: string) => {
      expect(name).toBe('SIGINT');
      const code = refusals[count];
      count += 1;
      if (count >= refusals.length) setImmediate(last.resolve);
      await Promise.resolve();
      if (code !== undefined) throw new ClientError(code, 'not yet');
    },
  } as unknown as ClientCommand;
  const signals = new CommandSignals(context);
  signals.sendTo(command);
  raise('SIGINT');
  await last.promise;
  return count;
}

it.each([
  ['a command that takes it', [], 1],
  ['one that the daemon has not begun', ['COMMAND_NOT_FOUND', 'NO_RUNNING_COMMAND'], 2],
] as const)('a signal reaches %s', async (_, refusals, count) => {
  expect(await signalled(...refusals)).toBeGreaterThanOrEqual(count);
});
