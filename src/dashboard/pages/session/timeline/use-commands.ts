import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

import { useDashboard } from '../../../state/context.js';
import { messageOf } from '../../../state/message.js';
import type { CommandInfo } from '../../../state/wire.js';

/** Commands of one answer. */
const PAGE = 100;

/** What is known of the commands of a session. */
export interface KnownCommands {
  /** Undefined before the first answer. */
  readonly commands: readonly CommandInfo[] | undefined;
  /** Why the last attempt to read some failed; empty when it did not. */
  readonly problem: string;
  /** Reads older ones; undefined when there are none. */
  readonly loadOlder: (() => void) | undefined;
}

/** The commands of a session: those that were read, and those that are reported as they change. */
export function useCommands(sessionId: string): KnownCommands {
  const { connection, live } = useDashboard();
  const read = useSignal<{ readonly commands: readonly CommandInfo[]; readonly next: string | null } | undefined>(
    undefined,
  );
  const problem = useSignal('');
  const load = async (before?: string) => {
    problem.value = '';
    try {
      const request = { session_id: sessionId, before, limit: PAGE };
      const { commands, next } = await connection.request('list_commands', request);
      read.value = { commands: [...(read.peek()?.commands ?? []), ...commands], next };
    } catch (error) {
      problem.value = messageOf(error);
    }
  };
  useEffect(() => {
    void load();
  }, [sessionId]);
  const reported = [...(live.commands.value?.values() ?? [])].filter(({ session_id: id }) => id === sessionId);
  const next = read.value?.next;
  const known = new Map([...(read.value?.commands ?? []), ...reported].map((info) => [info.command_id, info]));
  return {
    commands: read.value && [...known.values()],
    problem: problem.value,
    loadOlder: typeof next === 'string' ? () => void load(next) : undefined,
  };
}
