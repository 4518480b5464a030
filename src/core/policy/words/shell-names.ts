/** Names in the saved state of a shell. */
export interface ShellNames {
  readonly aliases: ReadonlyMap<string, string>;
  /** Functions with their bodies. */
  readonly functions: ReadonlyMap<string, string>;
  /** Exported variables. */
  readonly variables: ReadonlyMap<string, string>;
  /** The list lacks some names of the shell. */
  readonly isIncomplete: boolean;
}

/** Names of a shell whose state is unknown. */
export const UNKNOWN_NAMES: ShellNames = {
  aliases: new Map(),
  functions: new Map(),
  variables: new Map(),
  isIncomplete: true,
};
