import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { accessSync, constants, existsSync, mkdtempSync, rmdirSync, statfsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';

import { LIMIT_KEYS } from '../core/limits.js';
import { NO_METRICS } from '../core/metrics.js';
import type { SandboxStatus } from '../core/sandbox.js';
import { makeRuntimeDirectory } from '../engine/instance/runtime-directory.js';
import { unenforceableOn } from '../engine/limits/mechanism.js';
import type { Capabilities, Platform } from '../engine/platform/platform.js';
import { SYSTEM_PATH } from '../engine/platform/posix/sockets.js';
import { findCoverPrograms } from '../engine/sandbox/cover-keeper.js';
import { Launcher, type LauncherOptions } from '../engine/sandbox/launcher.js';
import { DRIVERS_DIRECTORY, findProgram, SHELLS } from '../engine/shells/list.js';
import type { Shell } from '../engine/shells/shell.js';
import { makeFifos } from '../engine/system/fifo.js';
import { removeTreeSync } from '../engine/system/local-files.js';
import { TMPFS_MAGIC } from '../engine/system/mounts.js';
import { ownUid } from '../engine/system/own-user.js';
import { findUser } from '../engine/system/find-user.js';
import { UserLaunch } from '../engine/sandbox/user-launch.js';
import { TokenFiles } from '../services/access/token-files.js';
import { approvalFileIn, readApprovals } from '../services/remembered-approvals.js';
import { shellVersions } from '../services/machine/metadata.js';
import { APT, type Finding, ON_LINUX, QUIET } from './finding.js';

/** How long a terminal may take to start before it counts as broken, in milliseconds. */
const PTY_TIMEOUT_MS = 5000;

/**
 * Opens a pseudo-terminal with a shell on it; returns its device. node-pty is loaded here and not before, so that a
 * broken installation of it is a finding and not a crash.
 */
export async function openTerminal(): Promise<string> {
  const { spawn } = await import('node-pty');
  // The shell waits for a line, because output that a program prints just before its exit may be lost.
  const pty = spawn('/bin/sh', ['-c', 'tty; read _'], { env: { PATH: '/usr/bin:/bin' } });
  const exited = new Promise<void>((resolve) => {
    pty.onExit(() => {
      resolve();
    });
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise((resolve, reject) => {
      timer = setTimeout(reject, PTY_TIMEOUT_MS, new Error('the shell on it did not answer'));
      let output = '';
      pty.onData((data) => {
        output += data;
        const [line] = output.split(/\r?\n/);
        if (!output.includes('\n') || line === undefined) return;
        if (line.startsWith('/dev/')) resolve(line);
        else reject(new Error(`the shell on it says: ${line}`));
      });
    });
  } finally {
    clearTimeout(timer);
    pty.write('\n');
    await exited;
  }
}

/** Creates a FIFO where the daemon would; returns the directory, and whether it is in memory. */
export async function tryFifos(
  platform: Platform,
): Promise<{ readonly directory: string; readonly isInMemory: boolean }> {
  const runtime = makeRuntimeDirectory(platform);
  try {
    await makeFifos([join(runtime.path, randomBytes(4).toString('hex'))]);
    return { directory: dirname(runtime.path), isInMemory: statfsSync(runtime.path).type === TMPFS_MAGIC };
  } finally {
    removeTreeSync(runtime.path);
  }
}

/** Checks /proc: whether processes are visible, and whether it shows that a process waits for input. */
function inspectProc({ processes }: Platform): { readonly hasProcesses: boolean; readonly hasWaits: boolean } {
  const hasProcesses = processes.read(process.pid) !== undefined;
  const hasWaits = ['children', 'syscall', 'wchan'].map((file) => isReadable(`/proc/self/task/${process.pid}/${file}`));
  return { hasProcesses, hasWaits: hasWaits[0] === true && hasWaits.slice(1).includes(true) };
}

/** Number of file descriptors that this process may open. Node.js has raised it to the hard limit. */
export function descriptorLimit(): number {
  const { userLimits } = process.report.getReport() as unknown as Report;
  const { soft } = userLimits.open_files;
  return soft === 'unlimited' ? Infinity : soft;
}

/** The part of a diagnostic report that is used. Source: https://nodejs.org/api/report.html. */
interface Report {
  readonly userLimits: { readonly open_files: { readonly soft: number | 'unlimited' } };
}

/** Whether files can be created in a directory, which is created first if it does not exist. */
export function canWriteBelow(directory: string): boolean {
  let existing = directory;
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing);
  try {
    // access(2) is not enough: root may write everywhere, but no user can create files in /proc.
    rmdirSync(mkdtempSync(join(existing, '.shell-adapter-')));
    return true;
  } catch {
    // EACCES, EROFS, ENOENT, ENOTDIR or ENOSPC: the daemon would get the same error.
    return false;
  }
}

const isReadable = (path: string): boolean => isAccessible(path, constants.R_OK);

function isAccessible(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    // Missing, or not accessible.
    return false;
  }
}

/** Abilities that a platform may lack, as people call them. */
const ABILITIES: Readonly<Record<keyof Capabilities, string>> = {
  controlGroups: 'control groups',
  sandbox: 'sandboxes',
  otherUsers: 'commands of other users',
  heldPaths: 'paths that cannot be redirected',
  openFiles: '`awaiting_input`',
  marks: 'finding processes that clear their environment',
  countWrites: 'limits on written bytes',
};

/** Programs that the platform `posix` runs, with the package of each, and what does not work without it. */
const PROGRAMS = [
  { program: 'lsof', package: 'lsof', use: 'listing ports, previews, and local users without a token over TCP' },
  { program: 'netstat', package: 'net-tools', use: 'waiting for a port' },
] as const;

/**
 * Checks what the platform can do, and what the configuration asks for beyond that.
 * @param searchPath where the daemon itself finds programs
 */
export const examinePlatform = (platform: Platform, limits: object | undefined, searchPath: string): Finding[] => [
  examineAbilities(platform),
  ...(platform.can.openFiles ? [examineProc(platform)] : []),
  ...(platform.name === 'posix' ? [examinePs(searchPath), ...PROGRAMS.map(examineProgram)] : []),
  ...unenforceableOn(platform)
    .filter((name) => limits !== undefined && name in limits)
    .map((name) => unenforced(LIMIT_KEYS[name], platform)),
];

function examineAbilities({ name, can }: Platform): Finding {
  const lacks = Object.entries(ABILITIES).filter(([key]) => !can[key as keyof Capabilities]);
  if (lacks.length === 0) return { name: 'platform', status: 'ok', detail: name };
  const detail = `${name}, without ${lacks.map(([, text]) => text).join(', ')}`;
  return { name: 'platform', status: 'warn', detail, fix: ON_LINUX };
}

function examineProc(platform: Platform): Finding {
  const { hasProcesses, hasWaits } = inspectProc(platform);
  if (!hasProcesses) {
    const detail = '/proc does not show processes: what commands leave behind cannot be found';
    return { name: 'proc', status: 'missing', detail, fix: 'mount -t proc proc /proc; only Linux has it' };
  }
  if (hasWaits) return { name: 'proc', status: 'ok', detail: 'shows processes and what they wait for' };
  const detail = '/proc does not show what processes wait for: `awaiting_input` may not be told';
  return { name: 'proc', status: 'warn', detail, fix: 'run the daemon outside of a hardened container' };
}

/** pidusage, by which the platform `posix` measures processes, finds ps(1) by the daemon's PATH. */
function examinePs(searchPath: string): Finding {
  const found = findProgram('ps', searchPath);
  if (found !== undefined) return { name: 'ps', status: 'ok', detail: `${found}, for the use of processes` };
  const detail = `not on PATH (${searchPath}): CPU time and memory of processes are not measured, and limits on them not kept`;
  return {
    name: 'ps',
    status: 'warn',
    detail,
    fix: `apt-get install procps ${APT}, and start the daemon with it on PATH`,
  };
}

function examineProgram({ program, package: name, use }: (typeof PROGRAMS)[number]): Finding {
  const path = SYSTEM_PATH.split(delimiter)
    .map((directory) => join(directory, program))
    .find(isExecutable);
  if (path !== undefined) return { name: program, status: 'ok', detail: `${path}, for ${use}` };
  const detail = `not in ${SYSTEM_PATH}: ${use} do not work`;
  return { name: program, status: 'warn', detail, fix: `apt-get install ${name} ${APT}` };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // ENOENT, EACCES.
    return false;
  }
}

function unenforced(key: string, { name }: Platform): Finding {
  const detail = `the platform ${name} cannot enforce it for commands: what they write is not counted`;
  return { name: `adapter.${key}`, status: 'warn', detail, fix: `remove it, or ${ON_LINUX}` };
}

const run = promisify(execFile);

/** Settings of sandboxes, without what a start of the daemon adds. */
export type SandboxSettings = Omit<LauncherOptions, 'runtimeParent' | 'directory' | 'platform'>;

/**
 * Examines the sandboxes. A failure here occurs in the daemon too. The sandbox is optional unless one is configured.
 * @param env environment variables of the shells
 */
export async function examineSandbox(
  sandbox: SandboxSettings,
  env: Readonly<Record<string, string>>,
  platform: Platform,
): Promise<Finding[]> {
  if (!platform.can.sandbox) {
    return [{ name: 'sandbox', status: 'warn', detail: `none on the platform ${platform.name}`, fix: ON_LINUX }];
  }
  const { available, configured, problems } = await testSandboxes(sandbox, platform);
  const working = available.filter((profile) => profile !== 'none');
  const version = await run('bwrap', ['--version'], { env }).then(
    ({ stdout }) => stdout.trim(),
    () => 'bubblewrap',
  );
  const broken = Object.entries(problems).map(([profile, why]) => `${profile}: ${why}`);
  if (broken.length === 0) {
    const detail = `${version}, profiles ${working.join(', ')}; used: ${configured}`;
    return [{ name: 'sandbox', status: 'ok', detail }, ...examineCovers(env['PATH'] ?? '')];
  }
  const fix =
    findProgram('bwrap', env['PATH'] ?? '') === undefined
      ? `apt-get install bubblewrap ${APT}`
      : 'allow this user namespaces: sysctl kernel.unprivileged_userns_clone=1 (Debian), kernel.apparmor_restrict_unprivileged_userns=0 (Ubuntu), CAP_SYS_ADMIN or another seccomp profile (containers)';
  return [{ name: 'sandbox', status: 'warn', detail: `not every profile works (${broken.join('; ')})`, fix }];
}

/** Secrets that change while a sandbox runs are hidden again by programs that a small machine may not have. */
function examineCovers(path: string): Finding[] {
  const programs = findCoverPrograms(path);
  if (typeof programs !== 'string') return [];
  const detail = `a secret that is saved again can be read in sandboxes that run (${programs})`;
  return [{ name: 'sandbox', status: 'warn', detail, fix: `apt-get install perl util-linux mount ${APT}` }];
}

/** Tests the sandboxes as the daemon does at its start. */
async function testSandboxes(sandbox: SandboxSettings, platform: Platform): Promise<SandboxStatus> {
  const runtime = makeRuntimeDirectory(platform);
  try {
    const options = { ...sandbox, platform, runtimeParent: dirname(runtime.path), directory: runtime.path };
    await using launcher = await Launcher.find(options, { metrics: NO_METRICS, log: QUIET });
    return launcher.standing;
  } finally {
    removeTreeSync(runtime.path);
  }
}

/** Where shells are looked for, and which one has to be there. */
export interface ShellSurroundings {
  /** Environment variables of the shells. */
  readonly env: Readonly<Record<string, string>>;
  /** Name or path. */
  readonly defaultShell: string;
}

/** Checks the shells that the daemon can drive. */
export async function examineShells({ env, defaultShell }: ShellSurroundings): Promise<Finding[]> {
  const installed = await shellVersions(env);
  const findings = SHELLS.map((shell): Finding => {
    const { name, isUntested } = shell;
    const found = installed.find((one) => one.name === name);
    if (isUntested) return examineUntested(name, found);
    if (found) return { name, status: 'ok', detail: `${found.path}, ${found.version}` };
    return missing(shell, env['PATH'] ?? '', defaultShell === name);
  });
  if (!defaultShell.includes('/') || installed.some(({ path }) => path === defaultShell)) return findings;
  return [...findings, examineShellFile(defaultShell)];
}

/** A shell in which no test has run the driver. Without it nothing is missing. */
function examineUntested(
  name: string,
  found: { readonly path: string; readonly version: string } | undefined,
): Finding {
  if (!found) return { name, status: 'ok', detail: 'not on PATH, and not needed: its driver is untested' };
  const detail = `${found.path}, ${found.version}: untested, its driver was written from its documentation`;
  return { name, status: 'warn', detail, fix: 'see that its sessions do what you need, or use another shell' };
}

function missing({ name, programs }: Shell, path: string, isDefault: boolean): Finding {
  const detail = `not on PATH (${path})`;
  const fix = `apt-get install ${programs.at(-1) ?? name} ${APT}${isDefault ? ', or set adapter.shell to another one' : ''}`;
  return { name, status: isDefault ? 'missing' : 'warn', detail, fix };
}

function examineShellFile(path: string): Finding {
  if (findProgram(path.replace(/^\//, ''), '/') !== undefined)
    return { name: 'adapter.shell', status: 'ok', detail: path };
  const fix = 'set adapter.shell to a shell that is there';
  return { name: 'adapter.shell', status: 'missing', detail: `${path} is not an executable file`, fix };
}

/** Where the tokens are, and what programs are found in. */
interface UsersSurroundings {
  readonly stateDirectory: string;
  /** Search path for bash, setpriv(1) and keyctl(1). */
  readonly path: string;
  /** Whether processes of other users can be started. @default whether this process is root */
  readonly isRoot?: boolean | undefined;
}

const name = 'run_as';

/** Checks the users of tokens with `run_as`. Without such a token there is nothing to report. */
export async function examineUsers({
  stateDirectory,
  path,
  isRoot = ownUid() === 0,
}: UsersSurroundings): Promise<readonly Finding[]> {
  const { tokens } = new TokenFiles(stateDirectory).read();
  const users = [...new Set(tokens.flatMap(({ run_as: user }) => user ?? []))].sort();
  if (users.length === 0) return [];
  if (!isRoot) {
    const detail = `tokens of ${users.join(', ')} are refused: the daemon is not root`;
    return [{ name, status: 'warn', detail, fix: 'run the daemon as root, or revoke these tokens' }];
  }
  const problems = await Promise.all(users.map((user) => problemOf(user, path)));
  const broken = problems.flatMap((problem): Finding[] => (problem ? [{ name, status: 'warn', ...problem }] : []));
  const served = users.filter((_, index) => problems[index] === undefined);
  const ok: Finding = { name, status: 'ok', detail: `programs can be started as ${served.join(', ')}` };
  return served.length > 0 ? [ok, ...broken] : broken;
}

/** Returns why nothing can be started as a user, and what helps; undefined when that works. */
async function problemOf(wanted: string, path: string): Promise<Pick<Finding, 'detail' | 'fix'> | undefined> {
  try {
    const user = await findUser(wanted);
    if (!user) return problem(wanted, 'this machine has no such user', 'create the user, or revoke its tokens');
    if (user.uid === 0) return problem(wanted, 'it is root, as is the daemon', 'create a token without --run-as');
    const launch = await UserLaunch.find(user, path);
    if (await launch.canEnter(DRIVERS_DIRECTORY)) return undefined;
    return problem(wanted, `it cannot enter ${DRIVERS_DIRECTORY}`, 'install shell-adapter where all users can read it');
  } catch (error) {
    return problem(wanted, (error as Error).message, 'apt-get install util-linux bash keyutils (Debian, Ubuntu)');
  }
}

const problem = (user: string, why: string, fix: string) => ({
  detail: `nothing can be started as ${user}: ${why}`,
  fix,
});

/** Checks the file with the approvals that are remembered for good. Without one there is nothing to report. */
export function examineApprovals(stateDirectory: string): readonly Finding[] {
  const file = approvalFileIn(stateDirectory);
  const { approvals, problem } = readApprovals(file);
  const name = 'approvals';
  if (problem !== undefined) {
    const fix = `repair or remove ${file}; until then, none of its approvals counts, and commands are confirmed`;
    return [{ name, status: 'warn', detail: problem, fix }];
  }
  return approvals.length === 0
    ? []
    : [{ name, status: 'ok', detail: `${approvals.length} are remembered in ${file}` }];
}
