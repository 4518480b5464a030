import type { Limits } from '../../core/limits/limits.js';
import type { CommandKind } from '../../core/metrics/metrics.js';
import type { LimitMechanism } from '../../engine/limits/mechanism.js';
import type { OneShotRunner } from '../../engine/one-shot/one-shot.js';
import { SHELLS } from '../../engine/shells/list.js';
import type { LlmPort } from '../ports/llm-port.js';
import type { Commands } from '../commands/commands.js';
import type { Sessions } from '../sessions/sessions.js';

/** The workload of the daemon at one moment. */
export interface WorkloadSample {
  /** Open sessions by the name of their shell, with an entry for every supported shell. */
  readonly sessionsByShell: Readonly<Record<string, number>>;
  /** Running commands by kind. */
  readonly runningCommands: Readonly<Record<CommandKind, number>>;
  /** Commands queued in sessions. */
  readonly queuedCommands: number;
  /** LLM calls that run, or wait in the queue. */
  readonly llmCalls: ReturnType<LlmPort['running']>;
  /** Bytes of output kept for `read_output`, in memory and on disk. */
  readonly spoolBytes: number;
  /** Resources used by commands and shells: memory in bytes, and processes and threads. */
  readonly memoryBytes: number;
  readonly processes: number;
  /** Resource limits of a session, by name. */
  readonly limits: Limits;
}

/** Sources of a workload sample. */
export interface WorkloadSources {
  readonly sessions: Pick<Sessions, 'registry'>;
  readonly commands: Pick<Commands, 'spoolBytes'>;
  readonly oneShots: Pick<OneShotRunner, 'running'>;
  readonly llm: Pick<LlmPort, 'running'>;
  readonly mechanism: { readonly mechanism: Pick<LimitMechanism, 'totals'> };
  readonly limits: Limits;
}

/** Samples the workload. No counters are maintained: it costs nothing until it is called. */
export async function sampleWorkload(sources: WorkloadSources): Promise<WorkloadSample> {
  const { sessions, commands, oneShots, llm, limits } = sources;
  const sessionsByShell = Object.fromEntries(SHELLS.map(({ name }) => [name, 0]));
  const runningCommands = { session: 0, one_shot: oneShots.running };
  let queuedCommands = 0;
  let { spoolBytes } = commands;
  for (const { session, shellName, isHidden, budget } of sessions.registry.all()) {
    sessionsByShell[shellName] = (sessionsByShell[shellName] ?? 0) + 1;
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
