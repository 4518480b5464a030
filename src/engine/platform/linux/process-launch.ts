import { readFileSync, readlinkSync } from 'node:fs';

/** How a process was started. */
export interface ProcessLaunch {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Reads how a process was started, as far as it has not changed that itself. Source: proc(5).
 * @throws the system's error when it belongs to another user, has ended, or there is no /proc
 */
export function readLaunch(pid: number): ProcessLaunch {
  const [file = '', ...args] = entriesOf(`/proc/${pid}/cmdline`);
  const variables = entriesOf(`/proc/${pid}/environ`).map((entry) => {
    const at = entry.indexOf('=');
    return [entry.slice(0, at), entry.slice(at + 1)] as const;
  });
  return { file, args, cwd: readlinkSync(`/proc/${pid}/cwd`), env: Object.fromEntries(variables) };
}

/** Each entry ends with a NUL. */
const entriesOf = (path: string): readonly string[] => readFileSync(path, 'utf8').split('\0').slice(0, -1);
