/** Directories in which every sandbox can create files. */
const TEMPORARY_DIRECTORIES: readonly string[] = ['/tmp', '/var/tmp', '/dev/shm'];

/** Environment variables whose value is invalid in a sandbox, with the replacement; undefined removes the variable. */
export type SandboxVariables = Readonly<Record<string, string | undefined>>;

/**
 * Programs rely on the directory in TMPDIR: if it is missing or read-only, mktemp(1) and all programs that use it fail.
 * The directory in XDG_RUNTIME_DIR is empty, which programs handle only when the variable is unset.
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
