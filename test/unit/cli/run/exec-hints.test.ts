import { describe, expect, it } from 'vitest';

import { printEndNotes, warnOfTimeout } from '../../../../src/cli/run/exec-hints.js';
import type { Context } from '../../../../src/cli/console/context.js';
import type { AdapterClient, CommandResult, EventPayload } from '../../../../src/client/index.js';

/** A context that keeps what is printed on standard error. */
function contextWith(isTerminal: boolean) {
  const printed: string[] = [];
  const write = (text: string) => {
    printed.push(text);
    return Promise.resolve();
  };
  return { printed, context: { stderr: { isTerminal, isColoured: false, write } } as unknown as Context };
}

const ENDED: Partial<CommandResult> = { timed_out: false, killed_by: null, limit: null, warnings: [], duration_ms: 1 };

async function notesOf(result: Partial<CommandResult>, isTerminal = false): Promise<string[]> {
  const { printed, context } = contextWith(isTerminal);
  await printEndNotes(context, { ...ENDED, ...result } as CommandResult);
  return printed;
}

const killedFor = (resource: NonNullable<CommandResult['limit']>['resource'], limit: number, peak: number) => ({
  killed_by: 'memory' as const,
  limit: { resource, limit, observed: peak, peak, killed_pids: [] },
});

describe('printEndNotes', () => {
  it.each<[Partial<CommandResult>, string[]]>([
    [{}, []],
    [{ killed_by: 'signal' }, []],
    [
      { timed_out: true, killed_by: 'timeout', duration_ms: 512 },
      ['shell-adapter: the command ran into its time-out and was ended after 0.5 s\n'],
    ],
    [killedFor('memory_mb', 300, 300.94), ['shell-adapter: ended: memory limit 300 MB reached (peak 300.9 MB)\n']],
    [killedFor('processes', 100, 101), ['shell-adapter: ended: processes limit 100 reached (peak 101)\n']],
    [killedFor('disk_free_mb', 512, 500), ['shell-adapter: ended: free disk space fell to 500 MB, below 512 MB\n']],
    [{ killed_by: 'shutdown' }, ['shell-adapter: ended: the daemon was stopped\n']],
    [{ killed_by: 'client' }, ['shell-adapter: ended: by a client, or with its session\n']],
  ])('%j', async (result, notes) => {
    expect(await notesOf(result)).toEqual(notes);
  });

  it.each([
    ['CHECKPOINT_SAVED', 'off a terminal too', false, true],
    ['REMEMBERED_APPROVAL', 'not off a terminal', false, false],
    ['REMEMBERED_APPROVAL', 'on a terminal', true, true],
    ['OF_A_NEWER_DAEMON', 'off a terminal too', false, true],
  ])('prints the warning %s %s', async (code, _where, isTerminal, isPrinted) => {
    const warnings = [{ code, message: 'one\ntwo' }] as CommandResult['warnings'];
    expect(await notesOf({ warnings }, isTerminal)).toEqual(isPrinted ? ['shell-adapter: one\\ntwo\n'] : []);
  });
});

it('warnOfTimeout prints how much time the own command has left', () => {
  const { printed, context } = contextWith(false);
  let tell: (event: EventPayload<'resource_warning'>) => void = () => undefined;
  const client = {
    on: (_name: string, listener: typeof tell) => {
      tell = listener;
      return () => undefined;
    },
  } as unknown as AdapterClient;
  warnOfTimeout(context, client, 'own');
  const near = { session_id: null, level: 'warning', limit: 600, observed: 540.2 } as const;
  tell({ ...near, command_id: 'other', resource: 'timeout_seconds' });
  tell({ ...near, command_id: 'own', resource: 'cpu_seconds' });
  expect(printed).toEqual([]);
  tell({ ...near, command_id: 'own', resource: 'timeout_seconds' });
  expect(printed).toEqual(['shell-adapter: the time-out of 600 s ends the command in 60 s; --timeout gives it more\n']);
});
