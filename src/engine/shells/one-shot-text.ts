import { quote } from './shell.js';

/** A command for a pre-started shell, with what is for it alone. */
export interface OneShotRequest {
  readonly text: string;
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly stdinFile?: string | undefined;
}

/** Text that makes any POSIX shell run the command as `sh -c` would, on one line so that line numbers stay true. */
export function oneShotText({ text, cwd, env = {}, stdinFile }: OneShotRequest): string {
  const steps = ['unset __sa'];
  if (stdinFile !== undefined) steps.push(`exec <${quote(stdinFile)}`);
  if (cwd !== undefined) steps.push(`cd -- ${quote(cwd)} || exit 126`, 'unset OLDPWD');
  for (const [name, value] of Object.entries(env)) steps.push(`export ${name}=${quote(value)}`);
  return [...steps, `eval ${quote(text)}`].join('; ');
}
