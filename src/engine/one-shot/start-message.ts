import type { SandboxProfile } from '../../core/sandbox-profiles.js';
import type { ProcessGroup } from '../limits/mechanism.js';
import type { StdinPipe } from '../output/stdin-pipe.js';
import { TAG_VARIABLE } from '../platform/platform.js';
import { MARK_VARIABLE, markOf } from '../process/session-mark.js';
import type { Launcher } from '../sandbox/launcher.js';
import type { SandboxNetwork } from '../sandbox/sandbox-networks.js';
import type { OneShotFiles } from './one-shot-process.js';
import type { PipeSet } from './pipe-sets.js';

/** Request to start a process. One JSON line each. */
export interface StartMessage {
  readonly id: number;
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Paths for descriptors 0 to 2, and 3 if there is one. Null is /dev/null. */
  readonly stdin: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly request: string | null;
  /**
   * Files through which the process enters its control groups, and those through which the starter returns to its own.
   */
  readonly joinFiles: readonly string[];
  readonly leaveFiles: readonly string[];
}

/** Report of the starter about a process: it runs, it has ended, or it could not be started. */
export type StarterReport =
  | { readonly id: number; readonly kind: 'started'; readonly pid: number }
  | { readonly id: number; readonly kind: 'exited'; readonly exitCode: number }
  | { readonly id: number; readonly kind: 'signalled'; readonly signal: NodeJS.Signals }
  | { readonly id: number; readonly kind: 'failed'; readonly code: string; readonly message: string };

/** Splits a stream into lines; an incomplete line is kept for the next chunk. */
export class LineReader {
  #rest = '';
  readonly #onLine: (line: string) => void;

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  /** Processes a chunk; calls `onLine` with each line that it completes, without the line feed. */
  push(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#onLine(line);
  }
}

/** Options of a process without a session. */
export interface OneShotProgram {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Tag of its processes, without the command number, which is always 0. */
  readonly tag: string;
  /**
   * Text for standard input, or a pipe that is fed while the process runs.
   * @default /dev/null
   */
  readonly stdin?: string | StdinPipe | undefined;
  readonly group: ProcessGroup;
  /** Whether the program waits on descriptor 3 for its request. */
  readonly takesRequest: boolean;
  /** Index of the argument that can be replaced by a text while the program waits: see `WaitingShell`. */
  readonly textIndex?: number | undefined;
  readonly profile: SandboxProfile;
  /** Whether stderr is the pipe of stdout. */
  readonly isMerged?: boolean | undefined;
  /** Whether any resource limit applies to the process. */
  readonly isLimited: boolean;
  /** The network of its sandbox, if that has one of its own; it is given back at the end. */
  readonly network?: SandboxNetwork | undefined;
}

/** What the starter is told of a process, without its group. */
type ProgramMessage = Omit<StartMessage, 'id' | 'joinFiles' | 'leaveFiles'>;

/** Places the files of a process, and returns the message with which the starter starts it. */
export const startMessage = (program: OneShotProgram, launcher: Launcher, files: OneShotFiles): ProgramMessage =>
  launcher.isolates(program) ? sandboxed(program, launcher, files) : plainly(program, launcher, files);

function plainly(program: OneShotProgram, launcher: Launcher, files: OneShotFiles): ProgramMessage {
  const { file, args, cwd, env, tag, stdin, takesRequest, profile, isLimited } = program;
  const { pipes } = files;
  const launch = { profile, isLimited, command: [file, ...args], env, directory: pipes.directory, cwd };
  const [launcherFile = file, ...launcherArgs] = launcher.wrap(launch);
  return {
    file: launcherFile,
    args: launcherArgs,
    cwd: launcher.startDirectory(cwd),
    env: { ...env, ...markersOf(tag, takesRequest) },
    stdin: files.offerStdin(stdin) ?? null,
    stdout: pipes.out.path,
    stderr: errorPath(program, pipes),
    request: takesRequest ? requestPipe(pipes) : null,
  };
}

/**
 * The pipes are opened inside the sandbox: bubblewrap itself, which ends shortly after its program, must not hold them.
 */
function sandboxed(program: OneShotProgram, launcher: Launcher, files: OneShotFiles): ProgramMessage {
  const { file, args, cwd, env, tag, stdin, takesRequest, profile, isLimited, network } = program;
  const { pipes } = files;
  const { directory, out } = pipes;
  const input = files.placeStdin(stdin) ?? '/dev/null';
  const descriptors = [input, out.path, errorPath(program, pipes), ...(takesRequest ? [requestPipe(pipes)] : [])];
  const launch = { profile, isLimited, command: [file, ...args], env, directory, cwd, descriptors, network };
  const [launcherFile = file, ...launcherArgs] = launcher.wrap(launch);
  return {
    file: launcherFile,
    args: launcherArgs,
    cwd: '/',
    env: { ...env, ...markersOf(tag, takesRequest) },
    stdin: null,
    stdout: '/dev/null',
    stderr: files.makeComplaint(),
    request: null,
  };
}

const errorPath = ({ isMerged }: OneShotProgram, { out, err }: PipeSet): string => (isMerged ? out.path : err.path);

/** Variables that identify its processes. A shell sets the resource limit of the mark; other programs cannot. */
const markersOf = (tag: string, isShell: boolean): Record<string, string> => ({
  [TAG_VARIABLE]: `${tag}.0`,
  ...(isShell && { [MARK_VARIABLE]: markOf(tag) }),
});

const requestPipe = (pipes: PipeSet): string => `${pipes.path}.req`;
