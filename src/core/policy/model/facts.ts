/** Directory in which a command would run; undefined when it is unknown. */
export type Directory = string | undefined;

/** Connection of a command to a terminal that accepts typed input. */
export interface TypingFacts {
  /** Its standard input is the terminal. */
  readonly input: boolean;
  /** Its output is on the terminal too, so that full-screen programs work. */
  readonly screen: boolean;
}

/** No input can be typed into the command. */
export const NO_TYPING: TypingFacts = { input: false, screen: false };

/** What a look at a file found that its path does not say. */
export interface FileFacts {
  /** The file that is read or written: the path after all links, absolute. */
  readonly target: string;
  /** The directory entry that is deleted or moved: the path after the links of its directory, absolute. */
  readonly entry: string;
  /** Its content begins like a private key. */
  readonly isKey: boolean;
}

/** Facts about the environment in which a command would run. All of it is plain data: the policy makes no queries. */
export interface PolicyFacts {
  /** The shell that would read the text. */
  readonly shell: 'bash' | 'zsh' | 'sh' | 'fish' | 'pwsh';
  /** Absolute path: files in it may be changed without confirmation under `balanced`. */
  readonly workspace: string;
  /** Possible current directories, absolute. */
  readonly directories: readonly Directory[];
  /** The home directory; undefined when it is not known. */
  readonly home: string | undefined;
  /** Further directories that any user may write to. */
  readonly scratch: readonly string[];
  /** Files and directories that determine this policy: no command may change them without confirmation. */
  readonly protectedPaths: readonly string[];
  /** The adapter's own credentials, absolute: no command may read them without confirmation. */
  readonly secretPaths: readonly string[];
  /** The session's aliases with their text. */
  readonly aliases: ReadonlyMap<string, string>;
  /** The session's functions with their text, braces included. */
  readonly functions: ReadonlyMap<string, string>;
  /** The shell ends with the command, so no later command changes its variables. */
  readonly isOneShot: boolean;
  /** PATH differs from the daemon's setting for shells: a bare name may be any program. */
  readonly isPathChanged: boolean;
  /** The session's aliases and functions are unknown: a bare name may be any of them. */
  readonly areNamesUnknown: boolean;
  /**
   * Numbers of the processes that the session has left running.
   * @default unknown
   */
  readonly ownProcesses?: ReadonlySet<number> | undefined;
  /** Whether input can be typed while the command runs. */
  readonly typing: TypingFacts;
  /**
   * Values of variables of the shell. Only for looking where a command leads: a verdict must hold for other values, too.
   * @default unknown
   */
  readonly variables?: ReadonlyMap<string, string> | undefined;
  /** What is known of files beside their paths, by absolute path: links and keys. Other files are what their paths say. */
  readonly files: ReadonlyMap<string, FileFacts>;
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
    files: new Map(),
    ...given,
  };
}
