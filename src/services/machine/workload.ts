import type { Limits } from '../../core/limits/limits.js';
import type { CommandKind } from '../../core/metrics/metrics.js';
import type { LimitMechanism } from '../../engine/limits/mechanism.js';
import type { OneShotRunner } from '../../engine/one-shot/one-shot.js';
import { SHELLS } from '../../engine/shells/list.js';
import type { LlmPort } from '../ports/llm-port.js';
import type { Commands } from '../commands/commands.js';
import type { Sessions } from '../sessions/sessions.js';

/** What the daemon has to do at a moment. */
export interface WorkloadSample {
  /** Open sessions by the name of their shell, with an entry for every shell that there could be. */
  readonly sessionsByShell: Readonly<Record<string, number>>;
  /** Commands that run. */
  readonly runningCommands: Readonly<Record<CommandKind, number>>;
  /** Commands that wait in sessions. */
  readonly queuedCommands: number;
  /** Calls of LLM providers that run or wait for their turn. */
  readonly llmCalls: ReturnType<LlmPort['running']>;
  /** Bytes of output that are kept for `read_output`, in memory and on disk. */
  readonly spoolBytes: number;
  /** What commands and shells use: bytes, and processes and threads. */
  readonly memoryBytes: number;
  readonly processes: number;
  /** Limits on what a session may use, by their names. */
  readonly limits: Limits;
}

/** What a sample is made from. */
export interface WorkloadSources {
  readonly sessions: Pick<Sessions, 'registry'>;
  readonly commands: Pick<Commands, 'spoolBytes'>;
  readonly oneShots: Pick<OneShotRunner, 'running'>;
  readonly llm: Pick<LlmPort, 'running'>;
  readonly mechanism: { readonly mechanism: Pick<LimitMechanism, 'totals'> };
  readonly limits: Limits;
}

/** Looks at what the daemon has to do. Nothing is counted along the way: it costs nothing until it is asked. */
export async function sampleWorkload(sources: WorkloadSources): Promise<WorkloadSample> {
  const { sessions, commands, oneShots, llm, limits } = sources;
  const sessionsByShell = Object.fromEntries(SHELLS.map(({ name }) => [name, 0]));
  const runningCommands = { session: 0, one_shot: oneShots.running };
  let queuedCommands = 0;
  let { spoolBytes } = commands;
  for (const { session, isHidden, budget } of sessions.registry.all()) {
    const { name } = session.options.installed.shell;
    sessionsByShell[name] = (sessionsByShell[name] ?? 0) + 1;
    if (session.running) runningCommands[isHidden ? 'one_shot' : 'session'] += 1;
    queuedCommands += session.queued.length;
    spoolBytes += budget.usedBytes;
  }
  const { memoryBytes, tasks: processes } = await sources.mechanism.mechanism.totals();
  return {
    sessionsByShell,
    runningCommands,
    queuedCommands,
    llmCalls: llm.running(),
    spoolBytes,
    memoryBytes,
    processes,
    limits,
  };
}
