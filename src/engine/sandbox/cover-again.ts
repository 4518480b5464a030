import type { Place } from '../../core/sandbox/arguments.js';
import { runApart } from '../process/run-apart.js';
import { findProgram } from '../shells/list.js';
import { ownUid } from '../system/own-user.js';

/** Programs that change the mounts of a sandbox that runs. */
export interface CoverPrograms {
  readonly perl: string;
  readonly nsenter: string;
  readonly shell: string;
}

/**
 * Enters the mount namespace of a process, and the user namespace that owns it, then runs a program there. bubblewrap
 * leaves its program in a user namespace below the owner, so /proc names the wrong one: only the system call
 * ioctl(NS_GET_USERNS) tells the owner.
 * Source: ioctl_ns(2).
 */
const ENTER = `
use strict;
$^F = 99;
my ($pid, $nsenter, $option, @command) = @ARGV;
open(my $mounts, '<', "/proc/$pid/ns/mnt") or die "the mount namespace of $pid: $!\\n";
my $owner = ioctl($mounts, 0xb701, 0) or die "its user namespace: $!\\n";
open(my $users, '<&', int($owner)) or die "its user namespace: $!\\n";
my @enter = ('--mount=/proc/self/fd/' . fileno($mounts));
my $theirs = '/proc/self/fd/' . fileno($users);
push @enter, "--user=$theirs", $option eq '' ? () : $option if readlink($theirs) ne readlink('/proc/self/ns/user');
exec $nsenter, @enter, '--', @command or die "$nsenter: $!\\n";
`;

/** Mounts an empty file or directory on each path. Arguments: view and path, in turn. */
const MOUNT = `
code=0
while [ $# -gt 1 ]; do
  if [ "$1" = empty-file ]; then mount --bind /dev/null "$2"
  else mount -t tmpfs -o ro,size=4k,mode=0555 empty "$2"
  fi || code=1
  shift 2
done
exit $code
`;

/** Finds the programs that `coverAgain` needs; a text says which one is missing. */
export function findCoverPrograms(path: string): CoverPrograms | string {
  const found = (['perl', 'nsenter', 'mount'] as const).map((name) => [name, findProgram(name, path)] as const);
  const missing = found.filter(([, program]) => program === undefined).map(([name]) => name);
  if (missing.length > 0) return `${missing.join(', ')} not on PATH`;
  const { perl = '', nsenter = '' } = Object.fromEntries(found);
  return { perl, nsenter, shell: '/bin/sh' };
}

/**
 * Hides places in a sandbox that runs, as they are hidden at its start.
 * @param pid a process in the sandbox
 * @throws Error when that fails
 */
export async function coverAgain(programs: CoverPrograms, pid: number, places: readonly Place[]): Promise<void> {
  // Root becomes the user whose sandbox it is, as whom mount(8) is root in the namespace; others are that user already.
  const option = ownUid() === 0 ? '' : '--preserve-credentials';
  const mount = [programs.shell, '-c', MOUNT, 'sh', ...places.flatMap(({ view, path }) => [view, path])];
  const command = [programs.perl, '-e', ENTER, String(pid), programs.nsenter, option, ...mount];
  const { exitCode, stderr } = await runApart(command);
  if (exitCode !== 0) throw new Error(stderr.trim() || `exit code ${exitCode}`);
}
