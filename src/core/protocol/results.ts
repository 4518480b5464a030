export {
  changedPath,
  checkpointInfo,
  type CheckpointInfo,
  restoredWorkspace,
  skippedPath,
} from './results/checkpoints.js';
export { commandResult, type CommandResult, processInfo } from './results/commands.js';
export { commandInfo, type CommandInfo, MAX_LISTED_COMMAND } from './results/command-info.js';
export {
  type EventName,
  type EventPayload,
  events,
  MAX_TICK_ENTRIES,
  MAX_TICK_RECORDS,
  type SessionEndReason,
} from './results/events.js';
export { fileOutcome } from './results/files.js';
export { hostEntry, type HostEntry } from './results/host.js';
export { effectiveLimits, type EffectiveLimits, resourceUse } from './results/limits.js';
export { expiry, sessionInfo, type SessionInfo } from './results/sessions.js';
