import { quote, type CommandSurroundings, type Shell, type SurroundingText } from './shell.js';

/** Returns text that makes the driver run something else instead of the command. */
export const insteadOfCommand = (text: string): string => `__sa_cmd=${quote(text)}`;

/**
 * Returns text that enters a directory for one command. The driver has the command in `__sa_cmd`, and `__sa_rc N` sets
 * the status N.
 * @param cd the shell's builtin cd, regardless of functions with that name
 */
export function surroundByDirectory(cwd: string | undefined, cd: string): SurroundingText {
  if (cwd === undefined) return { before: '', after: '' };
  const failure = `printf '%s: cannot enter the directory\\n' ${quote(cwd)} >&2; __sa_rc 126`;
  return {
    before: `__sa_pwd=\${PWD-} __sa_old=\${OLDPWD-}; ${cd} -- ${quote(cwd)} || ${insteadOfCommand(failure)}`,
    after: `${cd} -- "$__sa_pwd"; OLDPWD=$__sa_old`,
  };
}

/** Shell-specific parts of `surroundByPrefix`. */
export interface PrefixDialect {
  /** The shell's builtin cd, regardless of functions with that name. */
  readonly cd: string;
  /** Exports variables within the command, for shells that do not export those in front of a builtin. */
  readonly export?: string;
}

/**
 * Returns text around a command for shells in which `NAME=value builtin` sets a variable for that builtin alone: the
 * driver puts `__sa_env` in front of the command's `eval`, and `__sa_set` in front of its text.
 */
export function surroundByPrefix({ cwd, env = {} }: CommandSurroundings, dialect: PrefixDialect): SurroundingText {
  const assignments = Object.entries(env).map(([name, value]) => `${name}=${quote(value)}`);
  const steps = [`__sa_env=${quote(assignments.join(' '))}`];
  if (dialect.export !== undefined && assignments.length > 0) {
    steps.push(`__sa_set="${dialect.export} ${Object.keys(env).join(' ')}; $__sa_set"`);
  }
  const { before, after } = surroundByDirectory(cwd, dialect.cd);
  return { before: [...steps, before].join('\n'), after };
}

/** How POSIX shells are set up. */
export const POSIX_SETTING: Pick<Shell, 'quote' | 'setUp' | 'afterRestore'> = {
  quote,
  setUp: ({ cwd, env = {} }) =>
    [
      ...Object.entries(env).map(([name, value]) => `export ${name}=${quote(value)}`),
      ...(cwd === undefined ? [] : [`cd -- ${quote(cwd)} && unset OLDPWD`]),
    ].join('\n'),
  // What a failure has ended would end again at the next one.
  afterRestore: 'set +e',
};
