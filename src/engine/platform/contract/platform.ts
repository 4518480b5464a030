import type { PlatformName } from '../../../core/platform.js';
import type { Directories } from './directories.js';
import type { Listening } from './listening.js';
import type { Machine } from './machine.js';
import type { PeerLook } from './peers.js';
import type { Processes } from './processes.js';

/** Abilities that not every platform has. */
export interface Capabilities {
  /** Control groups, which bound memory and processes. */
  readonly controlGroups: boolean;
  /** Bubblewrap, and namespaces. */
  readonly sandbox: boolean;
  /** Processes of other users. */
  readonly otherUsers: boolean;
  /** Paths below a directory that is held open: a directory that is replaced meanwhile is not followed. */
  readonly heldPaths: boolean;
  /** Which files another process has open, and whether it waits for input. */
  readonly openFiles: boolean;
  /** How many bytes a process has written. */
  readonly countWrites: boolean;
  /** A mark of the session that a process cannot lose by clearing its environment. */
  readonly marks: boolean;
}

/** The operating system as the engine sees it. Chosen once, at the start. */
export interface Platform {
  readonly name: PlatformName;
  readonly can: Capabilities;
  readonly processes: Processes;
  readonly directories: Directories;
  readonly listening: Listening;
  readonly peers: PeerLook;
  readonly openMachine: () => Machine;
  /** Number of this process's PID namespace; 0 where there is none. */
  readonly pidNamespace: () => number;
  /** Directory whose entries are the open descriptors of the process that lists it. */
  readonly descriptorDirectory: string;
  /** Makes the kernel prefer this process and its descendants to the daemon when it is out of memory, if it can. */
  readonly makeFirstVictim: (pid: number) => void;
}
