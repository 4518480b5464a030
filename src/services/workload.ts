import type { CommandKind } from '../core/metrics.js';
import type { OneShotRunner } from '../engine/one-shot.js';
import { SHELLS } from '../engine/shells/list.js';
import type { Commands } from './commands.js';
import type { Sessions } from './sessions.js';

/** What the daemon has to do at a moment. */
export interface WorkloadSample {
  /** Open sessions by the name of their shell, with an entry for every shell that there could be. */
  readonly sessionsByShell: Readonly<Record<string, number>>;
  /** Commands that run. */
  readonly runningCommands: Readonly<Record<CommandKind, number>>;
  /** Commands that wait in sessions. */
  readonly queuedCommands: number;
  /** Bytes of output that are kept for `read_output`, in memory and on disk. */
  readonly spoolBytes: number;
}

/** What a sample is made from. */
export interface WorkloadSources {
  readonly sessions: Pick<Sessions, 'registry'>;
  readonly commands: Pick<Commands, 'spoolBytes'>;
  readonly oneShots: Pick<OneShotRunner, 'running'>;
}

/** Looks at what the daemon has to do. Nothing is counted along the way: it costs nothing until it is asked. */
export function sampleWorkload({ sessions, commands, oneShots }: WorkloadSources): WorkloadSample {
  const sessionsByShell = Object.fromEntries(SHELLS.map(({ name }) => [name, 0]));
  const runningCommands = { session: 0, one_shot: oneShots.running };
  let queuedCommands = 0;
  let { spoolBytes } = commands;
  for (const { session, isHidden, budget } of sessions.registry.all()) {
    const { name } = session.options.installed.shell;
    sessionsByShell[name] = (sessionsByShell[name] ?? 0) + 1;
    if (session.running) runningCommands[isHidden ? 'one_shot' : 'session'] += 1;
    queuedCommands += session.queued;
    spoolBytes += budget.usedBytes;
  }
  return { sessionsByShell, runningCommands, queuedCommands, spoolBytes };
}
