/** Where a command would run. Undefined stands for a directory that is not known. */
export type Directory = string | undefined;

/** How a command is connected to a terminal on which something can be typed. */
export interface TypingFacts {
  /** Its standard input is the terminal. */
  readonly input: boolean;
  /** It is on the terminal with its output too, so that full-screen programs work. */
  readonly screen: boolean;
}

/** Nothing can be typed into the command. */
const NO_TYPING: TypingFacts = { input: false, screen: false };

/** What is known of the place where a command would run. Everything in it is plain data: the engine asks nobody. */
export interface PolicyFacts {
  /** The shell that would read the text. */
  readonly shell: 'bash' | 'zsh' | 'sh';
  /** Absolute: files in it may be changed without a question under `balanced`. */
  readonly workspace: string;
  /** Current directories that are possible, absolute. */
  readonly directories: readonly Directory[];
  /** The home directory; undefined when it is not known. */
  readonly home: string | undefined;
  /** Further directories that anybody may write to. */
  readonly scratch: readonly string[];
  /** Files and directories that decide over this very policy: no command may change them unasked. */
  readonly protectedPaths: readonly string[];
  /** The adapter's own credentials, absolute: no command may read them unasked. */
  readonly secretPaths: readonly string[];
  /** The session's aliases with their text. */
  readonly aliases: ReadonlyMap<string, string>;
  /** The session's functions with their text, braces included. */
  readonly functions: ReadonlyMap<string, string>;
  /** The shell ends with the command: nobody changes its variables afterwards. */
  readonly isOneShot: boolean;
  /** PATH is not what the daemon starts shells with: a bare name may be any program. */
  readonly isPathChanged: boolean;
  /** Aliases and functions of the session are not known: a bare name may be anything that was defined there. */
  readonly areNamesUnknown: boolean;
  /** Whether something can be typed while the command runs. */
  readonly typing: TypingFacts;
}

/** Directories that every user may write to. */
const SCRATCH_DIRECTORIES = ['/tmp', '/var/tmp', '/dev/shm'] as const;

/** The facts of a fresh shell in the workspace. */
export function factsOfFreshShell(workspace: string, given: Partial<PolicyFacts> = {}): PolicyFacts {
  return {
    shell: 'bash',
    workspace,
    directories: [workspace],
    home: undefined,
    scratch: SCRATCH_DIRECTORIES,
    protectedPaths: [],
    secretPaths: [],
    aliases: new Map(),
    functions: new Map(),
    isOneShot: false,
    isPathChanged: false,
    areNamesUnknown: false,
    typing: NO_TYPING,
    ...given,
  };
}
