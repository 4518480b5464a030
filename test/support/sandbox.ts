import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import type { WireClient } from './wire.js';
import { type DaemonOptions, TestDaemon } from './daemon.js';

/** Why no sandbox can be tested on this machine; undefined where one can. */
function obstacle(): string | undefined {
  const args = ['--ro-bind', '/', '/', '--proc', '/proc', '--unshare-pid', '--unshare-net', 'true'];
  const { error, status, stderr } = spawnSync('bwrap', args, { encoding: 'utf8' });
  if (error) return 'bubblewrap is not installed';
  return status === 0 ? undefined : stderr.trim();
}

const why = obstacle();
if (why !== undefined) process.stderr.write(`sandboxes are not tested: ${why}\n`);

/** Whether this machine can make sandboxes. */
export const canSandbox = why === undefined;

/** Text that stands in every file and variable which nobody in a sandbox may see. */
export const SECRET = 'a-secret-of-the-host';

/** Makes a folder for a daemon, in the home directory, because a sandbox has a /tmp of its own. */
export const makeDirectory = (): string => mkdtempSync(join(homedir(), '.shell-adapter-test-'));

/**
 * Starts a daemon. The folder `home` in its own is its HOME, with secrets; a variable of the daemon holds one too.
 */
export async function startSandboxed(options: DaemonOptions, directory = makeDirectory()): Promise<TestDaemon> {
  const home = join(directory, 'home');
  for (const file of ['.ssh/id_test', '.aws/credentials', '.netrc']) {
    mkdirSync(join(home, file, '..'), { recursive: true });
    writeFileSync(join(home, file), SECRET);
  }
  mkdirSync(join(directory, 'workspace'));
  return TestDaemon.start({ ...options, env: { HOME: home, SECRET_OF_DAEMON: SECRET, ...options.env } }, directory);
}

/** Runs a command in a place: a session of that shell, or without a session. */
export type Runner = (command: string) => Promise<{ exitCode: number | null; stdout: string; stderr: string }>;

/** The places that commands run in. A session's is opened here. */
export async function runnerIn(client: WireClient, place: string): Promise<Runner> {
  const session = place === 'one-shot' ? undefined : await client.openSession({ shell: place });
  return async (command) => {
    const answer = await client.request('execute_command', { command, session_id: session });
    if (answer.error) throw new Error(`${command}: ${answer.error.message}`);
    return { exitCode: answer.exit_code, stdout: answer.stdout, stderr: answer.stderr };
  };
}

export const PLACES = ['bash', 'zsh', 'sh', 'one-shot'] as const;
