import { quote } from './shell.js';

/** A command for a prestarted shell, with its own settings. */
export interface OneShotRequest {
  readonly text: string;
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly stdinFile?: string | undefined;
  /** Whether stderr is written to stdout. */
  readonly isMerged?: boolean | undefined;
}

/**
 * Returns text that makes any POSIX shell run the command as `sh -c` would, on one line so that line numbers stay
 * correct.
 */
export function oneShotText({ text, cwd, env = {}, stdinFile, isMerged }: OneShotRequest): string {
  const steps = ['unset __sa'];
  if (isMerged) steps.push('exec 2>&1');
  if (stdinFile !== undefined) steps.push(`exec <${quote(stdinFile)}`);
  if (cwd !== undefined) steps.push(`cd -- ${quote(cwd)} || exit 126`, 'unset OLDPWD');
  for (const [name, value] of Object.entries(env)) steps.push(`export ${name}=${quote(value)}`);
  return [...steps, `eval ${quote(text)}`].join('; ');
}
