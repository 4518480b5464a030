import { execFile } from 'node:child_process';
import { accessSync, constants, mkdtempSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { profilesFrom, type RealProfile } from '../../core/sandbox/profiles.js';
import type { SandboxProblems } from '../../core/sandbox/standing.js';
import type { Sandbox } from './sandbox.js';

/** Longest that a sandbox may take to come up and test itself, on a loaded machine. */
const TIMEOUT_MS = 10_000;

/**
 * What is tried inside. Nothing is changed where a test fails: files are opened for appending, and the one that is made
 * in the root directory is removed.
 */
const TRIALS = `
fail() { printf '%s\\n' "$1"; exit 1; }
(: >>"$1/trial") 2>/dev/null || fail 'the files of the shell cannot be written to'
(: >"$1/other") 2>/dev/null && fail 'the directory of the shell can be written to'
[ -z "$2" ] || [ -w "$2" ] || fail 'the workspace cannot be written to'
(: >/.shell-adapter-trial) 2>/dev/null && { rm -f /.shell-adapter-trial; fail 'the root directory can be written to'; }
(: >>/etc/passwd) 2>/dev/null && fail '/etc can be written to'
(: >>/proc/sys/kernel/core_pattern) 2>/dev/null && fail 'the settings of the kernel can be written to'
mount -o remount,rw / 2>/dev/null && fail 'the file system can be mounted anew'
case "$(cat /proc/1/comm)" in bwrap | bubblewrap) ;; *) fail 'processes outside can be seen' ;; esac
shift 2
for namespace; do
  [ "$(readlink "/proc/self/ns/\${namespace%%:*}")" != "$namespace" ] || fail "the \${namespace%%:*} namespace is shared"
done
printf 'holds\\n'
`;

/** Starts a program in a sandbox of each profile that sees whether the sandbox holds. Gives why one does not. */
export async function testSandbox(
  sandbox: Sandbox,
  { directory, workspace }: { readonly directory: string; readonly workspace: string },
): Promise<SandboxProblems> {
  const tests = profilesFrom('workspace').map(async (profile) => {
    const problem = profile === 'none' ? undefined : await tryProfile(sandbox, profile, directory, workspace);
    return problem === undefined ? {} : { [profile]: problem };
  });
  return Object.assign({}, ...(await Promise.all(tests))) as SandboxProblems;
}

async function tryProfile(
  sandbox: Sandbox,
  profile: RealProfile,
  parent: string,
  workspace: string,
): Promise<string | undefined> {
  const directory = mkdtempSync(join(parent, 'trial-'));
  try {
    const namespaces = ['pid', 'mnt', 'ipc', 'uts', ...(profile === 'strict' ? ['net', 'user'] : [])];
    const ours = namespaces.map((name) => readlinkSync(`/proc/self/ns/${name}`));
    const writable = isWritable(workspace) ? workspace : '';
    const command = ['/bin/sh', '-c', TRIALS, 'sh', directory, writable, ...ours];
    return await run(sandbox.wrap({ profile, command, directory, ownFiles: ['trial'], cwd: workspace }), workspace);
  } catch (error) {
    return (error as Error).message;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function run([file = '', ...args]: readonly string[], cwd: string): Promise<string | undefined> {
  const options = {
    cwd,
    env: { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' },
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  } as const;
  return new Promise((resolve) => {
    const child = execFile(file, args, options, (error, stdout, stderr) => {
      const [line = ''] = (stdout || stderr).trim().split('\n');
      if (!error && line === 'holds') resolve(undefined);
      else resolve(line || (error?.message.split('\n', 1)[0] ?? 'it said nothing'));
    });
    child.stdin?.end();
  });
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    // It is not writable for the daemon either.
    return false;
  }
}
