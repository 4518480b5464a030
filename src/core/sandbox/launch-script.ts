/** Steps to perform in a sandbox before its program starts. */
export interface LaunchSteps {
  /** The workspace first, then the protected paths below it, each of which is mounted onto itself. */
  readonly mounts: readonly string[];
  /** Files for file descriptors 0 to 2, and optionally 3; undefined to keep the existing ones. */
  readonly descriptors: readonly string[] | undefined;
  /** Working directory of a program without a terminal. */
  readonly cwd: string | undefined;
}

/** Exit code of a launch in which a mount does not show the expected place: EX_OSFILE of sysexits.h. */
export const WRONG_MOUNT = 72;

/** Text for `sh -c TEXT sh PROGRAM ARGUMENTS`; undefined when no step is needed. */
export function launchScript({ mounts, descriptors, cwd }: LaunchSteps): string | undefined {
  const steps: string[] = [];
  if (mounts.length > 1) steps.push(checkMounts(mounts));
  if (descriptors) {
    const [stdin = '', stdout = '', stderr = '', request] = descriptors.map(quote);
    steps.push(`exec <${stdin} >${stdout} 2>${stderr}${request === undefined ? '' : ` 3<${request}`}`);
  }
  if (cwd !== undefined) steps.push(`cd -- ${quote(cwd)} || exit 126`);
  return steps.length === 0 ? undefined : [...steps, 'unset OLDPWD', REPORT_MISSING, 'exec "$@"'].join('\n');
}

/**
 * Reports a missing program in the words of a shell. dash's exec calls one "Permission denied" (126) when a folder of PATH
 * may not be searched.
 */
export const REPORT_MISSING =
  'case $1 in */*) ;; *) [ -n "$(command -v -- "$1")" ] || { printf "%s: command not found\\n" "$1" >&2; exit 127; } ;; esac';

/**
 * A protected path may have been replaced by a link just before it was mounted, which mount(2) follows. The kernel's
 * mount table shows what was actually mounted: proc(5), mountinfo.
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

/** A path in the kernel's escaped form. */
const escaped = (path: string): string =>
  path.replace(/[\\ \t\n]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, '0')}`);

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
