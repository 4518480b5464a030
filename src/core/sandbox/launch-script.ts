/** What is seen to, in a sandbox, before the program in it begins. */
export interface LaunchSteps {
  /** Protected paths below the workspace, each mounted onto itself, and the workspace; the latter first. */
  readonly mounts: readonly string[];
  /** Files for descriptors 0 to 2, and 3 if there is one; undefined to keep those that there are. */
  readonly descriptors: readonly string[] | undefined;
  /** Where a program without a terminal starts. */
  readonly cwd: string | undefined;
}

/** How a launch says that a mount does not show what it should: EX_OSFILE of sysexits.h. */
export const WRONG_MOUNT = 72;

/** Text for `sh -c TEXT sh PROGRAM ARGUMENTS`; undefined when there is nothing to see to. */
export function launchScript({ mounts, descriptors, cwd }: LaunchSteps): string | undefined {
  const steps: string[] = [];
  if (mounts.length > 1) steps.push(checkMounts(mounts));
  if (descriptors) {
    const [stdin = '', stdout = '', stderr = '', request] = descriptors.map(quote);
    steps.push(`exec <${stdin} >${stdout} 2>${stderr}${request === undefined ? '' : ` 3<${request}`}`);
  }
  if (cwd !== undefined) steps.push(`cd -- ${quote(cwd)} || exit 126`);
  return steps.length === 0 ? undefined : [...steps, 'unset OLDPWD', 'exec "$@"'].join('\n');
}

/**
 * Somebody may have put a link in the place of a protected path just before it was mounted, which mount(2) follows. The
 * kernel's own table tells what it is that was mounted: proc(5), mountinfo.
 */
function checkMounts([workspace = '', ...others]: readonly string[]): string {
  const protectedPaths = others.map((path) => quote(escaped(path))).join('|');
  return [
    'while read -r _ _ __dev __root __point _; do case $__point in',
    `${quote(escaped(workspace))}) __base=\${__root%/} __disk=$__dev ;;`,
    `${protectedPaths}) [ "$__dev$__root" = "$__disk$__base\${__point#${quote(escaped(workspace))}}" ] ||`,
    `{ printf 'the protected path %s was replaced while the sandbox was made\\n' "$__point" >&2; exit ${WRONG_MOUNT}; } ;;`,
    'esac; done </proc/self/mountinfo',
    'unset __dev __root __point __base __disk',
  ].join('\n');
}

/** As the kernel writes paths there. */
const escaped = (path: string): string =>
  path.replace(/[\\ \t\n]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`);

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
