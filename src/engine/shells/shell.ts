/** Variables and a directory for one command alone. */
export interface CommandSurroundings {
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** Text that the driver runs before and after a command. */
export interface SurroundingText {
  readonly before: string;
  readonly after: string;
}

/** A request to a driver: see the drivers for what it means to them. */
export interface DriverRequest {
  /**
   * o: stdout and stderr apart, i: the same with a given stdin, t: everything on the terminal, u: the same with a given
   * stdin; in capitals when there is text around the command. s: save the state, r: tidy the terminal too. q: end.
   */
  readonly mode: string;
  /** Name of the command's files, 3 digits. */
  readonly slot: string;
  /** The command's number, 6 digits. */
  readonly number: string;
  /** By which the report is known, 22 characters. */
  readonly nonce: string;
}

/** Files that drivers write, in the directory of their FIFOs. */
export const DRIVER_FILES: readonly string[] = ['state.0', 'state.1', 'trap', 'loop', 'modes'];

/** How a program is started. */
interface ShellInvocation {
  readonly args: readonly string[];
  /** Variables that the start needs; the driver removes them. */
  readonly env: Readonly<Record<string, string>>;
  /** Program, with its arguments, that replaces itself by the shell. Default: none. */
  readonly launcher?: readonly string[];
}

/** What the engine knows of one shell. One file and one line in `shells/list.ts` each. */
export interface Shell {
  /** Name that clients use. */
  readonly name: string;
  /** File names to look for on PATH, in this order. */
  readonly programs: readonly string[];
  /** Gives the version as the shell's `--version` (or what stands for it) prints it; arguments to run. */
  readonly versionArgs: readonly string[];
  /** Starts an interactive shell that runs the driver, and takes over the mark in `__SA_MARK`. `directory` holds its FIFOs. */
  session(directory: string, isSandboxed: boolean): ShellInvocation;
  /**
   * Starts a shell that waits for a line on descriptor 3. At `go` it evaluates the text in `requestFile`, at anything
   * else, or the descriptor's end, it exits. It takes over the mark in `__SA_MARK` first.
   */
  oneShot(requestFile: string): ShellInvocation;
  /**
   * Arguments with which the shell parses a text and executes nothing of it (set -n). Syntax that only an option allows is accepted:
   * a session may have set it.
   */
  parseOnly(text: string): readonly string[];
  /**
   * Descriptor on which the driver waits for requests. While a command runs it is closed, or leads elsewhere: as long as
   * it leads to the requests, the command has not begun, or the shell has left it.
   */
  readonly requestFd: number;
  /** A request as the driver reads it from its FIFO. */
  request(request: DriverRequest): string;
  /** A command's text as the driver reads it from the slot's file. */
  commandFile(text: string, request: DriverRequest): string;
  /** Text around one command of a session. */
  surround(surroundings: CommandSurroundings): SurroundingText;
  /** Command that brings a saved state back. */
  restore(stateFile: string): string;
  /** What to type when the shell has come back to a prompt that is not the driver's. */
  readonly recall: string;
}

/** A request of 32 characters, for drivers that can read a number of them. */
export const fixedRequest = ({ mode, slot, number, nonce }: DriverRequest): string => mode + slot + number + nonce;

/** Quotes text so that any POSIX shell reads it as one word. */
export const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
