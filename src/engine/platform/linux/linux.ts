import { readlinkSync } from 'node:fs';

import type { Platform } from '../contract/platform.js';
import type { Processes } from '../contract/processes.js';
import { linuxDirectories } from './directories.js';
import { linuxListening } from './listening.js';
import { LinuxMachine } from './machine.js';
import { makeFirstVictim, replaceArgument } from './process-changes.js';
import { linuxPeers } from './peers.js';
import * as files from './process-files.js';
import { processIdentity } from './process-identity.js';
import * as states from './process-state.js';
import * as table from './process-table.js';
import { Origins } from './session-mark.js';
import * as starts from './start-marker.js';
import { findTerminalReader } from './terminal-wait.js';

/** Processes through /proc: proc(5). */
const processes: Processes = {
  askAside: undefined,
  listMs: () => 0,
  read: table.readIfThere,
  readNow: table.readProcess,
  readCheaply: table.readIfThere,
  list: table.listProcesses,
  pids: table.listPids,
  childrenOf: table.listChildren,
  argumentsOf: table.argumentsOf,
  commandLine: table.commandLine,
  followProgram: () => undefined,
  programOf: (pid) => table.commandLine({ pid, name: '' }),
  whereabouts: table.whereabouts,
  innermostPid: table.innermostPid,
  tagOf: table.readTag,
  originOf: new Origins().read,
  identityOf: processIdentity,
  isAlive: states.isAlive,
  isEnding: states.isEnding,
  handlesSignal: states.handlesSignal,
  isYoung: states.isYoung,
  isWaitingForCpu: states.isWaitingForCpu,
  isWaitingCopy: states.isWaitingCopy,
  isBeforeExec: states.isBeforeExec,
  isFork: states.isFork,
  exitSignal: states.exitSignal,
  isThread: states.isThread,
  descriptorTarget: files.descriptorTarget,
  fileBeingRead: files.fileBeingRead,
  holdsDescriptorOf: files.holdsDescriptorOf,
  isWaiting: files.isWaiting,
  findTerminalReader,
  hasTerminalInput: files.hasTerminalInput,
  pathInside: files.pathInside,
  replaceArgument,
  writesOf: table.writesOf,
  sharedBytes: table.sharedBytes,
  proportionalBytes: table.proportionalBytes,
  ticksNow: states.ticksNow,
  markStart: starts.markStart,
  markRecentStart: starts.markRecentStart,
  startedSince: starts.startedSince,
  pidsGivenSince: starts.pidsGivenSince,
  watchForNew: () => new starts.PidCounter(),
};

/** Linux: /proc, control groups, namespaces. */
export const linux: Platform = {
  name: 'linux',
  can: {
    controlGroups: true,
    sandbox: true,
    otherUsers: true,
    heldPaths: true,
    openFiles: true,
    marks: true,
    countWrites: true,
  },
  processes,
  directories: linuxDirectories,
  listening: linuxListening,
  peers: linuxPeers,
  openMachine: () => new LinuxMachine(),
  pidNamespace,
  descriptorDirectory: '/proc/self/fd',
  makeFirstVictim,
};

/** namespaces(7). */
function pidNamespace(): number {
  try {
    return Number(/\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? 0);
  } catch {
    return 0;
  }
}
