import { expect, it } from 'vitest';

import type { Principal } from '../../../../src/core/principal.js';
import { Command } from '../../../../src/engine/command/command.js';
import type { CommandOutcome } from '../../../../src/engine/command/outcome.js';
import { SpoolBudget } from '../../../../src/engine/output/spool.js';
import { CommandRegistry } from '../../../../src/services/registry/command-registry.js';

const limits = { maxSize: 9, beginSize: 3, endSize: 6 };
const principal = (id: string): Principal => ({ id, name: id, role: 'agent', isLocalPeer: false });

const [gone, other] = [principal('gone'), principal('other')];
const request = { command: '' } as Parameters<CommandRegistry['add']>[0]['request'];
const style = { encoding: 'utf8', stripAnsi: false, collapseCr: false } as const;

/** Adds a command; gives what ends it. */
function add(registry: CommandRegistry, id: string, sessionId: string | null): () => Promise<void> {
  const spec = { id, command: '', timeoutMs: 1000, tty: false, limits };
  const command = new Command(spec, { spoolDirectory: '/nonexistent', budget: new SpoolBudget(0) });
  registry.add({ command, owner: gone, sessionId, style, request, warnings: [], checkpointId: undefined });
  return async () => {
    command.lifecycle.settle({ status: 'completed' } as CommandOutcome);
    // The last steps run in the next turn of the event loop.
    await new Promise(setImmediate);
  };
}

it('drops what belongs to an owner whose access has ended, as soon as it has ended', async () => {
  const registry = new CommandRegistry(undefined);
  await add(registry, 'ended', null)();
  const end = add(registry, 'running', null);
  await add(registry, 'in-session', 's')();
  const known = () => ['ended', 'running', 'in-session'].filter((id) => registry.find(id, gone.id));
  await registry.forgetOwner(gone.id);
  expect(known()).toEqual(['running', 'in-session']);
  expect(registry.hasForgotten('ended', gone.id)).toBe(true);
  await end();
  expect(known()).toEqual(['in-session']);
  await registry.forgetSession('s', gone.id);
  expect(known()).toEqual([]);
  // Nothing is left of it but when it was active: a restore of the workspace asks for that.
  expect(registry.hasForgotten('ended', gone.id)).toBe(false);
  expect(registry.othersActiveSince(other, 0)).toEqual([gone]);
  expect(registry.othersActiveSince(other, Date.now() + 1000)).toEqual([]);
});
