/** Facts about a session's environment while nothing runs in it. */
export interface HealthFacts {
  readonly shell: 'bash' | 'zsh' | 'sh' | 'fish' | 'pwsh';
  readonly workingDirectory: string;
  /** Whether the current directory can still be entered. */
  readonly isDirectoryThere: boolean;
  readonly aliases: ReadonlyMap<string, string>;
  /** Functions with their bodies. */
  readonly functions: ReadonlyMap<string, string>;
  /** Letters of the shell's options, as `$-` gives them. */
  readonly options: string;
  /** Tools that were on PATH when the session began, and no longer are. */
  readonly missingTools: readonly string[];
  /** Size of all exported variables, in bytes. */
  readonly environmentBytes: number;
  /** Terminal modes that a command has left and that have since been reset, as stty(1) names them. */
  readonly leftModes: readonly string[];
  /** Number of background processes that commands have left. */
  readonly leftProcesses: number;
  /** Space on the disk of the workspace, in bytes; undefined when it is unknown. */
  readonly disk: { readonly freeBytes: number; readonly totalBytes: number } | undefined;
}

/** Programs on which ordinary commands rely. */
export const CORE_TOOLS = ['ls', 'cat', 'cp', 'mv', 'rm', 'mkdir', 'grep', 'sed', 'env'] as const;

/** Commands whose usual meaning other commands assume: the tools, and builtins. driver.sh has the same list. */
export const RELIED_ON: readonly string[] = [
  ...CORE_TOOLS,
  ...['cd', 'echo', 'printf', 'test', '[', 'pwd', 'export', 'read', 'find', 'git', 'sudo'],
];
