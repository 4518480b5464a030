import { accessSync, constants, mkdtempSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import type { SandboxProblems } from '../../core/sandbox.js';
import { profilesFrom, type RealProfile } from '../../core/sandbox-profiles.js';
import { runApart } from '../process/run-apart.js';
import { isPlaceGone, type Sandbox } from './sandbox.js';
import type { SandboxNetwork, SandboxNetworks } from './sandbox-networks.js';
import { makeDirectoryFor } from '../system/own-user.js';
import type { UserLaunch } from './user-launch.js';

/** Timeout for the start and self-test of a sandbox on a loaded machine, in milliseconds. */
const TIMEOUT_MS = 10_000;
/** Environment of the test. */
const ENVIRONMENT = { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' };
/** Attempts to start a sandbox when a hidden path is removed meanwhile. */
const MAX_ATTEMPTS = 3;

/**
 * Script of the tests inside. Failing tests leave nothing behind: files are opened for appending, and the one that is
 * created in the root directory is removed.
 */
const TRIALS = `
fail() { printf '%s\\n' "$1"; exit 1; }
(: >>"$1/trial") 2>/dev/null || fail 'the files of the shell cannot be written to'
(: >"$1/other") 2>/dev/null && fail 'the directory of the shell can be written to'
[ -z "$2" ] || [ -w "$2" ] || fail 'the workspace cannot be written to'
(: >/.shell-adapter-trial) 2>/dev/null && { rm -f /.shell-adapter-trial; fail 'the root directory can be written to'; }
(: >>/etc/passwd) 2>/dev/null && fail '/etc can be written to'
# What users other than root cannot write to anyway proves nothing: the mount has to be read-only.
while read -r _ _ _ _ point options _; do [ "$point" != / ] || root=$options; done </proc/self/mountinfo
case ",$root," in *,ro,*) ;; *) fail 'the root directory is not read-only' ;; esac
(: >>/proc/sys/kernel/core_pattern) 2>/dev/null && fail 'the settings of the kernel can be written to'
mount -o remount,rw / 2>/dev/null && fail 'the file system can be remounted'
read -r first </proc/1/comm
case "$first" in bwrap | bubblewrap) ;; *) fail 'processes outside can be seen' ;; esac
shift 2
set -f
links=
for outside; do links="$links /proc/self/ns/\${outside%%:*}"; done
for inside in $(readlink $links); do
  for outside; do [ "$inside" != "$outside" ] || fail "the \${outside%%:*} namespace is shared"; done
done
printf 'holds\\n'
`;

/** What a test needs. Paths are absolute. */
interface TestSurroundings {
  /** Networks of sandboxes with an allow-list; without them a sandbox has the machine's, or none. */
  readonly networks?: SandboxNetworks | undefined;
  /** Parent of the directory of each test, which is removed after it. */
  readonly directory: string;
  readonly workspace: string;
  /** The user of the programs, if it is not the daemon's. */
  readonly user?: UserLaunch | undefined;
}

/** Runs a program in a sandbox of each profile that tests its isolation. Returns the problems found. */
export async function testSandbox(
  sandbox: Sandbox,
  surroundings: TestSurroundings,
  timeoutMs = TIMEOUT_MS,
): Promise<SandboxProblems> {
  const tests = profilesFrom('workspace').map(async (profile) => {
    if (profile === 'none') return {};
    const attempt = () => tryProfile(sandbox, profile, surroundings, timeoutMs);
    let problem = await attempt();
    for (let count = 1; count < MAX_ATTEMPTS && isPlaceGone(problem ?? ''); count++) problem = await attempt();
    return problem === undefined ? {} : { [profile]: problem };
  });
  return Object.assign({}, ...(await Promise.all(tests))) as SandboxProblems;
}

async function tryProfile(
  sandbox: Sandbox,
  profile: RealProfile,
  { directory: parent, workspace, networks, user }: TestSurroundings,
  timeoutMs: number,
): Promise<string | undefined> {
  const directory = mkdtempSync(join(parent, 'trial-'));
  let network: SandboxNetwork | undefined;
  try {
    makeDirectoryFor(user?.user, directory);
    network = await networks?.take();
    const isAlone = !sandbox.sharesNetwork({ profile, network });
    const namespaces = [
      'pid',
      'mnt',
      'ipc',
      'uts',
      ...(isAlone ? ['net'] : []),
      ...(profile === 'strict' ? ['user'] : []),
    ];
    const ours = namespaces.map((name) => readlinkSync(`/proc/self/ns/${name}`));
    // Another user may have no right to write there.
    const writable = !user && isWritable(workspace) ? workspace : '';
    const command = ['/bin/sh', '-c', TRIALS, 'sh', directory, writable, ...ours];
    const launch = { profile, command, env: ENVIRONMENT, directory, ownFiles: ['trial'], cwd: workspace, network };
    return await run(sandbox.wrap(launch), user ? '/' : workspace, timeoutMs);
  } catch (error) {
    return (error as Error).message;
  } finally {
    network?.[Symbol.dispose]();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Runs the test. Returns the problem that it has found. */
async function run(command: readonly string[], cwd: string, timeoutMs: number): Promise<string | undefined> {
  const { stdout, stderr, exitCode } = await runApart(command, {
    name: 'bubblewrap',
    cwd,
    env: ENVIRONMENT,
    timeoutMs,
  });
  const [line = ''] = (stdout || stderr).trim().split('\n');
  return exitCode === 0 && line === 'holds' ? undefined : explained(line || 'bubblewrap has said nothing');
}

/** bubblewrap's messages where a container or the kernel forbids namespaces hardly show the cause. */
const NO_NAMESPACES = /^bwrap: .*(namespace|uid map|gid map|Operation not permitted)/;

/** Explains a failure. */
const explained = (line: string): string =>
  NO_NAMESPACES.test(line) ? `this user may not make (user) namespaces here (${line})` : line;

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    // It is not writable for the daemon either.
    return false;
  }
}
