/** What is known of a session's environment when nothing runs in it. */
export interface HealthFacts {
  readonly shell: 'bash' | 'zsh' | 'sh';
  readonly workingDirectory: string;
  /** Whether that directory can still be entered. */
  readonly isDirectoryThere: boolean;
  readonly aliases: ReadonlyMap<string, string>;
  /** Functions with their bodies. */
  readonly functions: ReadonlyMap<string, string>;
  /** Letters of the shell's options, as `$-` gives them. */
  readonly options: string;
  /** Tools that were on PATH when the session began, and are not any more. */
  readonly missingTools: readonly string[];
  /** Size of all exported variables, in bytes. */
  readonly environmentBytes: number;
  /** Modes of the terminal that a command has left and that were put right since, as stty(1) names them. */
  readonly leftModes: readonly string[];
  /** Processes that commands have left running. */
  readonly leftProcesses: number;
  /** Room on the disk of the workspace, in bytes; undefined when it cannot be told. */
  readonly disk: { readonly freeBytes: number; readonly totalBytes: number } | undefined;
}

/** Programs that ordinary commands rely on. */
export const CORE_TOOLS = ['ls', 'cat', 'cp', 'mv', 'rm', 'mkdir', 'grep', 'sed', 'env'] as const;

/** Commands whose meaning others take for granted: the tools, and builtins. driver.sh has the same list. */
export const RELIED_ON: readonly string[] = [
  ...CORE_TOOLS,
  ...['cd', 'echo', 'printf', 'test', '[', 'pwd', 'export', 'read', 'find', 'git', 'sudo'],
];
