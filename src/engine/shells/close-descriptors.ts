import { existsSync } from 'node:fs';

const BASH = '/bin/bash';

/**
 * Returns a program that closes inherited descriptors and execs the shell. node-pty leaks some descriptors of other
 * sessions, whose terminals must stay private; some shells cannot close them. Therefore bash does, where it is
 * available. (`-p`: it reads no start-up file of the user.) In a sandbox the process group of the shell's parent does
 * not exist, and dash fails when it gives the terminal back to it: an interactive bash creates its own process group
 * first.
 * @param first the lowest descriptor that is closed
 * @param before a command that runs before the shell
 * @returns undefined when there is no bash
 */
export function closingLauncher(first: number, isSandboxed: boolean, before = ''): readonly string[] | undefined {
  if (!existsSync(BASH)) return undefined;
  // In the words of bash 3.2, which macOS has.
  const close = `for fd in /dev/fd/*; do fd=\${fd##*/}; if ((fd >= ${first})); then eval "exec $fd>&-"; fi; done`;
  const script = `${before}${close}; unset fd SHLVL; exec "$@"`;
  return [BASH, '--norc', ...(isSandboxed ? ['-i'] : []), '-p', '-c', script, 'bash'];
}
