import { spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { CREDENTIAL_PLACES } from '../../src/core/secrets.js';
import { type DaemonOptions, MAIN, TestDaemon } from './daemon.js';
import { WireClient } from './wire.js';

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

/** Content of a file of the home directory that every program may read. */
export const NOTES = 'these are no secret';

/** A file for each place of credentials in a home directory, relative to it, with `x` in place of what varies. */
export const CREDENTIAL_FILES: readonly string[] = credentialFiles();

function credentialFiles(): readonly string[] {
  const patterns = CREDENTIAL_PLACES.flatMap(({ paths }) => paths).filter((path) => !path.startsWith('/'));
  const files = patterns.map((path) => path.replace('~/', '').replace('/**', '/x').replaceAll('*', 'x'));
  // Some places are directories of others.
  const isDirectory = (file: string) => files.some((other) => other.startsWith(`${file}/`));
  return [...new Set(files.map((file) => (isDirectory(file) ? `${file}/x` : file)))];
}

/** Makes a folder for a daemon, in the home directory, because a sandbox has a /tmp of its own. */
export const makeDirectory = (): string => mkdtempSync(join(homedir(), '.shell-adapter-test-'));

/**
 * Starts a daemon. The folder `home` in its own is its HOME, with secrets; a variable of the daemon holds one too.
 */
export async function startSandboxed(
  options: DaemonOptions,
  directory = makeDirectory(),
  owner = process.getuid?.() ?? 0,
): Promise<TestDaemon> {
  const home = join(directory, 'home');
  for (const file of CREDENTIAL_FILES) {
    mkdirSync(join(home, file, '..'), { recursive: true });
    writeFileSync(join(home, file), SECRET);
  }
  writeFileSync(join(home, 'notes'), NOTES);
  mkdirSync(join(directory, 'workspace'));
  if (owner !== process.getuid?.()) {
    for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' }))
      chownSync(join(directory, name), owner, owner);
    chownSync(directory, owner, owner);
  }
  return TestDaemon.start({ ...options, env: { HOME: home, SECRET_OF_DAEMON: SECRET, ...options.env } }, directory);
}

const NOBODY = 65_534;
const AS_NOBODY = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];

/** Whether a daemon can be started as another user, who has no rights of root: needs root, and a build that all may read. */
export const canBeNobody =
  process.getuid?.() === 0 &&
  spawnSync(AS_NOBODY[0]!, [...AS_NOBODY.slice(1), process.execPath, MAIN, '--version']).status === 0;

/** Does what `startSandboxed` does as a user with no rights, and connects with the token that the daemon has made. */
export async function startAsNobody(options: DaemonOptions): Promise<{ daemon: TestDaemon; client: WireClient }> {
  // Root's home directory is closed to others, and of /tmp a sandbox has its own.
  mkdirSync('/srv', { recursive: true });
  const directory = mkdtempSync('/srv/shell-adapter-test-');
  const daemon = await startSandboxed({ ...options, launcher: AS_NOBODY }, directory, NOBODY);
  const token = readFileSync(join(directory, 'state', 'token'), 'utf8').trim();
  return { daemon, client: await WireClient.connect(daemon.url, ['websocket'], { token }) };
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
