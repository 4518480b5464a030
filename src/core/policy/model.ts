/**
 * Effect of a command on the machine and on others, from harmless to unknown. Of two classes that lead to the same
 * action, the later one names the verdict.
 *
 * - `read` only reads, including the session's own state.
 * - `write` changes files in the workspace or in a scratch directory.
 * - `execute` runs a program with unknown effects: a build, a test, a script.
 * - `network` communicates with other machines.
 * - `interactive` executes what is typed while it runs, which cannot be judged: a shell, an interpreter, an editor.
 * - `destructive` deletes or overwrites files outside the workspace, or ends processes of others.
 * - `privilege` acts as another user, or on the machine as a whole.
 * - `persistence` changes what runs later: start-up files, schedules, services, hooks, the system's own files.
 * - `exfiltration` reads credentials, or sends local data away.
 * - `obfuscated` cannot be judged from its text: the effect is decided at run time, or the text cannot be read.
 */
export const COMMAND_CLASSES = [
  'read',
  'write',
  'execute',
  'network',
  'interactive',
  'destructive',
  'privilege',
  'persistence',
  'exfiltration',
  'obfuscated',
] as const;

/** Class of a command. */
export type CommandClass = (typeof COMMAND_CLASSES)[number];

/**
 * Actions of the policy, from the mildest to the strictest. `checkpoint` saves the workspace, and runs the command without
 * a question if what it destroys can be brought back from there; otherwise it has to be confirmed.
 */
export const POLICY_ACTIONS = ['allow', 'checkpoint', 'confirm', 'deny'] as const;

/** Action of the policy. */
export type PolicyAction = (typeof POLICY_ACTIONS)[number];

const CLASS_RANKS = new Map<CommandClass, number>(COMMAND_CLASSES.map((name, rank) => [name, rank]));
const ACTION_RANKS: Readonly<Record<PolicyAction, number>> = { allow: 0, checkpoint: 1, confirm: 2, deny: 3 };

/** Rank of a class in the order, from 0. */
export const rankOf = (name: CommandClass): number => CLASS_RANKS.get(name) ?? 0;

/** The stricter of two actions. */
export const stricter = (a: PolicyAction, b: PolicyAction): PolicyAction =>
  ACTION_RANKS[a] >= ACTION_RANKS[b] ? a : b;

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
  /**
   * Whether the verdict tells what each word was taken for.
   * @default false
   */
  readonly isExplained?: boolean;
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

/** How a program executes typed input: as lines of a shell, which can be judged, or as code, which cannot. */
export type TypedLanguage = 'shell' | 'code';

/** Conditions under which a program takes typed input, and how it executes that input. */
export interface TypingProgram {
  readonly language: TypedLanguage;
  /**
   * - `input`: its standard input has to be the terminal.
   * - `terminal`: it opens the terminal itself, whatever its standard input is.
   * - `screen`: likewise, but only when its output is a terminal. Otherwise it just copies its input.
   */
  readonly reads: 'input' | 'terminal' | 'screen';
  /** Whether it takes typed input with these arguments (without its own name). */
  readonly takes: (args: readonly string[]) => boolean;
}

/** Whether a file name denotes the terminal, where a script is expected. */
export const isTerminalName = (arg: string): boolean =>
  /^(?:-|\/dev\/(?:stdin|tty|fd\/0)|\/proc\/[^/]+\/fd\/0)$/.test(arg);

/** Files in the workspace that a command destroys, and that a checkpoint can bring back. */
export interface Loss {
  /** Absolute, normalized; its last component may be a pattern. Everything below it counts. */
  readonly path: string;
  /** Whether directories of git below it stay as they are. */
  readonly sparesGit: boolean;
}

/** One effect of a command. */
export interface Finding {
  readonly class: CommandClass;
  /** For people and models: the effect and its target. */
  readonly reason: string;
  /** All that is destroyed, if a checkpoint can bring it back; undefined where none can. */
  readonly losses?: readonly Loss[];
  /** Irreparable: denied by every preset, even when rules allow it. */
  readonly isCatastrophe?: boolean;
  /**
   * Whether the finding stems from the program and its arguments, which a rule may allow. Redirections, variables, and
   * unreadable text do not belong to the program.
   */
  readonly isOfProgram: boolean;
}

/** A word of a command, and what the policy has taken it for. */
export interface TakenWord {
  readonly word: string;
  readonly takenFor: string;
}

/** A simple command, found at any depth, with its effects. */
export interface JudgedCommand {
  /** Source text, or without its wrappers. */
  readonly text: string;
  /** Base name of the program; undefined when it is unknown before run time, or when there is no program. */
  readonly program: string | undefined;
  /** The program as written: a bare name, or a path; its source text when that is known only at run time. */
  readonly calledAs: string | undefined;
  /** Arguments; undefined for one that is unknown before run time. */
  readonly args: readonly (string | undefined)[];
  /** Absolute paths in the command, as far as they are known. */
  readonly paths: readonly string[];
  /** It may access further paths. */
  readonly hasUnknownPaths: boolean;
  readonly findings: readonly Finding[];
  /** Absolute paths of the files whose content it runs, as far as they are known. */
  readonly scripts?: readonly string[];
  /** Directories from which it looks for a repository of git, whose settings then apply. */
  readonly repositories?: readonly string[];
  /** Its standard input is not the terminal. */
  readonly isFed?: boolean;
  /** How it executes typed input while it runs; undefined when it does not. */
  readonly typed?: TypedLanguage | undefined;
  /** What its words were taken for, where the facts ask for that. */
  readonly words?: readonly TakenWord[];
}

/**
 * Limits of the analysis. Text that exceeds one is `obfuscated`: it is never analysed in part and classified as
 * harmless. Together they keep the worst text found so far (nested substitutions, here-documents) at about 100 ms.
 */
export const POLICY_LIMITS = {
  /** Longest command text, in UTF-16 units: parse time is quadratic in depth times length. */
  maxTextLength: 32 * 1024,
  /** Longest run of blanks: more blanks push a command out of a reader's sight. */
  maxBlanks: 80,
  /** Here-documents in one text: parse time is quadratic in their number. */
  maxHereDocuments: 64,
  /** Nested expansions and substitutions: the parser reads each level again. */
  maxNesting: 10,
  /** Nested syntax. */
  maxSyntaxDepth: 150,
  /** Nested commands and shell texts: `sudo sh -c "env …"`, aliases, functions. */
  maxDepth: 12,
  /** Simple commands in one request, at any depth. */
  maxCommands: 200,
  /** Syntax nodes in one request. */
  maxNodes: 20_000,
  /** Words that the braces of one word expand to. */
  maxBraceWords: 64,
  /** Words of one command, after brace expansion; also its assignments. Further words count as unknown. */
  maxWords: 1024,
  /** Redirections of one command. */
  maxRedirects: 32,
  /** Longest script of `sed` or `awk` that is analysed, in characters. */
  maxScriptLength: 4096,
  /** Longest text of a command in a verdict, in characters. */
  maxShownText: 200,
  /** Reasons in a verdict. */
  maxReasons: 20,
} as const;
