import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';

import type { Principal } from '../../core/principal.js';
import { AdapterError } from '../../core/errors.js';
import { type Limits, type LimitSet, MB } from '../../core/limits.js';
import { chooseProfile } from '../../core/sandbox.js';
import type { SandboxProfile } from '../../core/sandbox-profiles.js';
import type { LimitTarget } from '../../engine/command/resource-use.js';
import { fileError, resolvePath } from '../../engine/files/held-path.js';
import type { FilePerformer, Target } from '../../engine/files/file-job.js';
import { FileWorker } from '../../engine/files/file-worker.js';
import { JobPrograms } from '../../engine/files/job-programs.js';
import { performerWith } from '../../engine/files/perform.js';
import { diskSpaceOf } from '../../engine/platform/machine.js';
import { Turns } from '../../engine/system/promises.js';
import type { Directories } from '../../engine/platform/platform.js';
import type { SessionRecord } from '../registry/session-registry.js';
import type { ResourceMonitor } from '../limits/resource-monitor.js';
import type { Sessions } from '../sessions/sessions.js';
import type { Execution, Executions } from '../executions.js';

/** Longest time of one job in a program of its own, in milliseconds. */
const MAX_JOB_MS = 120_000;
/** Programs that do jobs at the same time: each is a start of Node.js, which takes a processor for tenths of a second. */
const MAX_PROGRAMS = Math.max(2, availableParallelism());

/** Where requests about files are done: with which rights, and from which directory. */
export interface FilePlace {
  readonly session: SessionRecord | undefined;
  /** The principal whose processes would do it. */
  readonly owner: Principal;
  /** Directory for relative paths. */
  readonly directory: string;
  readonly performer: FilePerformer;
  /** Whether a program of its own does it: in a sandbox, or as another user. */
  readonly isConfined: boolean;
  /**
   * Finds the file that a path means. In a sandbox, and for another user, only the program that does the job looks.
   * @param follow false for the entry itself where it is a link
   */
  locate(path: string, follow: boolean): Promise<Target>;
  /**
   * Checks that bytes may be written.
   * @param before that were written already, of the same file
   * @throws AdapterError DISK_FULL, FILE_TOO_LARGE
   */
  assertRoom(bytes: number, before?: number): void;
}

/** Finds the places of requests about files. */
export class FilePlaces {
  readonly #executions: Executions;
  readonly #sessions: Sessions;
  readonly #monitor: ResourceMonitor;
  readonly #spoolDirectory: string;
  readonly #jobTimeoutMs: () => number;
  readonly #limits: () => LimitSet;
  readonly #here: FilePerformer;
  readonly #turns = new Turns(MAX_PROGRAMS);
  readonly #programs = new JobPrograms();

  constructor(
    executions: Executions,
    sessions: Sessions,
    monitor: ResourceMonitor,
    directories: Directories,
    spoolDirectory: string,
    jobTimeoutMs: () => number,
    limits: () => LimitSet,
  ) {
    this.#executions = executions;
    this.#sessions = sessions;
    this.#monitor = monitor;
    this.#spoolDirectory = spoolDirectory;
    this.#jobTimeoutMs = jobTimeoutMs;
    this.#limits = limits;
    this.#here = performerWith(directories);
  }

  /**
   * The place of a request; a session that it names counts as used.
   * @throws AdapterError SESSION_NOT_FOUND
   */
  find(sessionId: string | undefined, principal: Principal): FilePlace {
    const session = sessionId === undefined ? undefined : this.#sessions.registry.get(sessionId, principal, 'use');
    if (session) this.#sessions.touch(session);
    return this.#of(session, principal);
  }

  /** The place of a session; without one, that of commands without a session. */
  #of(session: SessionRecord | undefined, principal: Principal): FilePlace {
    const owner = session?.owner ?? principal;
    const execution = this.#executions.of(owner);
    const { sandbox, limits, directory } = session
      ? { ...session, directory: session.session.workingDirectory }
      : this.#freshPlace(execution);
    const isConfined = sandbox !== 'none' || execution.launch !== undefined;
    return {
      session,
      owner,
      directory,
      performer: isConfined ? this.#workerIn(execution, session, owner, sandbox, limits) : this.#here,
      isConfined,
      locate: (path, follow) => locate(resolve(directory, path), follow, isConfined),
      assertRoom: (bytes, before = 0) => {
        this.#assertRoom(bytes, before, limits);
      },
    };
  }

  #freshPlace({ oneShots, pool }: Execution) {
    const sandbox = chooseProfile(undefined, oneShots.sandbox);
    return { sandbox, limits: this.#limits().resources, directory: pool.cwd };
  }

  #workerIn(
    { oneShots, stdinPipes }: Execution,
    session: SessionRecord | undefined,
    owner: Principal,
    sandbox: SandboxProfile,
    limits: Limits,
  ): FileWorker {
    const place = {
      oneShots,
      stdinPipes,
      turns: this.#turns,
      key: JSON.stringify([session?.id, owner.id, sandbox, limits]),
      onEnd: (listener: () => void) =>
        session ? this.#sessions.registry.onEnd(session.id, listener) : () => undefined,
      sandbox,
      limits,
      spoolDirectory: this.#spoolDirectory,
      timeoutMs: Math.min(MAX_JOB_MS, this.#jobTimeoutMs()),
      transferTimeoutMs: this.#jobTimeoutMs(),
      // A job has no channel for warnings: its error says which limit it has exceeded.
      onLongRunning: (watched: LimitTarget) => {
        this.#monitor.watch(watched, {});
      },
    };
    return new FileWorker(place, this.#programs);
  }

  #assertRoom(bytes: number, before: number, { disk_mb: limit }: Limits): void {
    const size = before + bytes;
    if (limit !== undefined && size > limit * MB) {
      throw new AdapterError('FILE_TOO_LARGE', `${size} bytes are more than may be written (disk_mb ${limit})`, {
        details: { size, max: limit * MB },
      });
    }
    const { diskFreeMbFloor: floor } = this.#limits();
    if (floor === undefined || bytes === 0) return;
    // Without a workspace, the job says what is missing.
    const { freeBytes } = diskSpaceOf(this.#executions.own.pool.cwd) ?? {};
    if (freeBytes === undefined || freeBytes - bytes >= floor * MB) return;
    throw new AdapterError('DISK_FULL', `${floor} MB of the disk have to stay free (disk_free_mb_floor)`, {
      details: { free_bytes: freeBytes, size: bytes, floor_mb: floor },
    });
  }
}

async function locate(path: string, follow: boolean, isConfined: boolean): Promise<Target> {
  if (isConfined) return { path };
  try {
    return { path, real: await resolvePath(path, follow) };
  } catch (error) {
    throw fileError(error, path);
  }
}
