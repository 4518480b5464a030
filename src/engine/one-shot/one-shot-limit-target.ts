import type { Command } from '../command/command.js';
import type { EndReason } from '../command/outcome.js';
import type { LimitTarget } from '../command/limit-target.js';
import type { OneShotProcess } from './one-shot-process.js';

/** Called for a long-running one-shot. */
export type OnLongRunning = (watched: LimitTarget) => void;

/** Returns the limit target of a one-shot in flight: nothing outlives its command. */
export function oneShotLimitTarget(
  command: Command,
  process: OneShotProcess,
  cancel: (command: Command, reason: EndReason) => void,
): LimitTarget {
  let endedAt = Infinity;
  void process.ended.then(() => {
    endedAt = performance.now();
  });
  return {
    group: process.group,
    limits: command.spec.resourceLimits ?? {},
    get own() {
      return process.root?.rootPids ?? [];
    },
    get running() {
      return command.outcome ? undefined : command;
    },
    get idleSince() {
      return endedAt;
    },
    numbers: process.numbers,
    isEnding: process.processes.isEnding,
    cancel,
    hasRest: () => false,
    endRest: () => Promise.resolve(),
    endShell: () => undefined,
    endSession: () => undefined,
    noteBreach: () => undefined,
  };
}

/** Starts measuring the command in this process: earlier use does not count; applies the command's limits. */
export function startWithLimits(command: Command, process: OneShotProcess): void {
  const { group } = process;
  const { resourceLimits: limits = {} } = command.spec;
  // Not every mechanism can measure a process that is just being started, or has waited for its command; its use is next to 0.
  const cpuMs = (process.pid === undefined ? undefined : group.cpuMs()) ?? 0;
  command.meter.begin({ group, limits, atStart: { cpuMs, writtenBytes: 0 } });
  const setLimits = () => {
    group.setLimits(limits);
  };
  // Only once it runs: during the start the starter, with all its threads, is in the group too.
  if (process.pid === undefined) void process.started.then(setLimits);
  else setLimits();
}
