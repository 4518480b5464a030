/** Directories in which every sandbox can make files. */
const TEMPORARY_DIRECTORIES: readonly string[] = ['/tmp', '/var/tmp', '/dev/shm'];

/** What of the environment leads nowhere in a sandbox, and is another there; undefined to leave it out. */
export type SandboxVariables = Readonly<Record<string, string | undefined>>;

/**
 * TMPDIR names a directory that programs take for granted: one that is not there, or read-only, makes mktemp(1) and all that
 * needs it fail. Of XDG_RUNTIME_DIR nothing is left, which programs are prepared for only when it is not set.
 * @param workspace without links on the way to it, as is TMPDIR
 */
export function sandboxVariables(env: Readonly<Record<string, string>>, workspace: string): SandboxVariables {
  const { TMPDIR: directory, XDG_RUNTIME_DIR: runtime } = env;
  const isThere = (path: string) =>
    TEMPORARY_DIRECTORIES.includes(path) || path === workspace || path.startsWith(`${workspace}/`);
  return {
    ...(directory !== undefined && !isThere(directory) && { TMPDIR: '/tmp' }),
    ...(runtime !== undefined && { XDG_RUNTIME_DIR: undefined }),
  };
}
