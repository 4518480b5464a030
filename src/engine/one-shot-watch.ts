import type { Command, EndReason } from './command.js';
import type { Watched } from './limits/watched.js';
import type { OneShotProcess } from './one-shot-process.js';

/** Told of a one-shot that takes its time. */
export type OnLingering = (watched: Watched) => void;

/** A one-shot in flight, as limits are kept for it: nothing outlives its command. */
export function watchOneShot(
  command: Command,
  process: OneShotProcess,
  cancel: (command: Command, reason: EndReason) => void,
): Watched {
  return {
    group: process.group,
    limits: command.spec.resourceLimits ?? {},
    get own() {
      return process.root?.own ?? [];
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
