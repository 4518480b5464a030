import type { Command, EndReason } from '../command/command.js';
import type { LimitTarget } from '../command/limit-target.js';
import type { OneShotProcess } from './one-shot-process.js';
import { bytesWrittenSoFar } from '../process/process-table.js';

/** Told of a one-shot that takes its time. */
export type OnLongRunning = (watched: LimitTarget) => void;

/** A one-shot in flight, as limits are kept for it: nothing outlives its command. */
export function oneShotLimitTarget(
  command: Command,
  process: OneShotProcess,
  cancel: (command: Command, reason: EndReason) => void,
): LimitTarget {
  return {
    group: process.group,
    limits: command.spec.resourceLimits ?? {},
    get own() {
      return process.root?.rootPids ?? [];
    },
    get running() {
      return command.outcome ? undefined : command;
    },
    numbers: process.numbers,
    cancel,
    endRest: () => Promise.resolve([]),
    endShell: () => undefined,
    endSession: () => undefined,
    noteBreach: () => undefined,
  };
}

/** From now on the process runs this command: what it has used before does not count, and its limits hold. */
export function startWithLimits(command: Command, process: OneShotProcess): void {
  const { group } = process;
  // Of one that is just being started not every mechanism can tell what it has used, which is nothing.
  const cpuAtStart = process.pid === undefined ? 0 : group.cpuMs();
  const written = {
    get pid() {
      return process.root?.main;
    },
    atStart: 0,
    now: () => (process.root ? bytesWrittenSoFar(process.root.main) : undefined),
  };
  command.meter.begin({
    group,
    cpuAtStart,
    limits: command.spec.resourceLimits ?? {},
    written,
  });
  const setLimits = () => {
    if (command.spec.resourceLimits) group.setLimits(command.spec.resourceLimits);
  };
  // Only when it runs: while it is being started the starter, with all its threads, is in the group too.
  if (process.pid === undefined) void process.started.then(setLimits);
  else setLimits();
}
