import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';

import { type ClusterSurroundings, examineCluster } from './cluster.js';
import { APT, type Finding, ON_LINUX } from './finding.js';
import {
  canWriteBelow,
  descriptorLimit,
  examinePlatform,
  examineSandbox,
  examineShells,
  openTerminal,
  type SandboxSettings,
  type ShellSurroundings,
  tryFifos,
} from './engine.js';
import type { PlatformName } from '../core/platform.js';
import type { LimitSet } from '../core/limits.js';
import { type LimitSettings, measureLimits, nameWithoutLimits } from '../engine/limits/mechanism.js';
import { chooseMechanism } from '../engine/limits/probe.js';
import { choosePlatform } from '../engine/platform/choose-platform.js';
import type { Platform } from '../engine/platform/platform.js';
import { findProgram } from '../engine/shells/list.js';

const run = promisify(execFile);

/** Environment in which the daemon would run. */
export interface Surroundings extends ShellSurroundings {
  readonly platform: PlatformName | 'auto';
  /** Where the daemon itself finds programs. */
  readonly searchPath: string;
  /** Directories that the daemon writes to, by setting name. */
  readonly directories: Readonly<Record<string, string>>;
  /** Sandbox options; undefined when the configuration cannot be read. */
  readonly sandbox: SandboxSettings | undefined;
  /** Settings of the resource limits; undefined when the configuration cannot be read. */
  readonly limits: LimitSettings | undefined;
  /** Files that other users should not read, by description. Missing files are ignored. */
  readonly privateFiles: Readonly<Record<string, string>>;
  /** False for a gateway: it needs nothing that commands need. */
  readonly runsCommands: boolean;
  /** Undefined for a daemon alone, and when the configuration cannot be read. */
  readonly cluster: ClusterSurroundings | undefined;
}

/** Oldest supported major version of Node.js. */
const MIN_NODE_MAJOR = 20;
/** A session holds about seven file descriptors: with fewer than this, fewer than a hundred sessions fit. */
const MIN_DESCRIPTORS = 1024;

/** Checks everything on this machine that the daemon needs or can use. Leaves nothing behind. */
export async function examineMachine(surroundings: Surroundings): Promise<readonly Finding[]> {
  const { directories, privateFiles, runsCommands, cluster } = surroundings;
  const platform = choosePlatform(surroundings.platform);
  return [
    examineNode(),
    ...(runsCommands ? await examineStart(surroundings, platform) : []),
    ...examineDescriptors(),
    ...Object.entries(directories).map(([name, path]) => examineDirectory(name, path)),
    ...Object.entries(privateFiles).flatMap(([name, path]) => examinePrivacy(name, path)),
    ...(runsCommands ? await examineBounds(surroundings, platform) : []),
    ...(await examineCluster(cluster)),
  ];
}

/** Checks what commands are started with. */
const examineStart = async (surroundings: Surroundings, platform: Platform): Promise<readonly Finding[]> => [
  await examineTerminal(),
  ...(await examineShells(surroundings)),
  ...(await examineFifos(platform)),
  ...examinePlatform(platform, surroundings.limits?.resourceLimits, surroundings.searchPath),
];

/** Checks what commands are confined by, and what undoes what they have done. */
const examineBounds = async (surroundings: Surroundings, platform: Platform): Promise<readonly Finding[]> => [
  examineMechanism(surroundings, platform),
  ...examineLimits(surroundings),
  await examineGit(surroundings),
  ...(surroundings.sandbox ? await examineSandbox(surroundings.sandbox, surroundings.env, platform) : []),
];

function examineNode(): Finding {
  const { node } = process.versions;
  const isCurrent = Number(node.split('.', 1)[0]) >= MIN_NODE_MAJOR;
  const packages = ['node-pty', 'socket.io'].map((name) => `${name} ${packageVersion(name)}`).join(', ');
  const finding = { name: 'node', detail: `Node.js ${node}, ${packages}` };
  if (isCurrent) return { ...finding, status: 'ok' };
  return { ...finding, status: 'missing', fix: `install Node.js ${MIN_NODE_MAJOR} or later: https://nodejs.org` };
}

function packageVersion(name: string): string {
  try {
    return (createRequire(import.meta.url)(`${name}/package.json`) as { version: string }).version;
  } catch {
    // Not installed, or it hides its package.json.
    return '(not found)';
  }
}

async function examineTerminal(): Promise<Finding> {
  try {
    return { name: 'pty', status: 'ok', detail: `opened ${await openTerminal()}` };
  } catch (error) {
    const fix = 'npm rebuild node-pty; if that fails, see that /dev/pts is mounted and /dev/ptmx may be opened';
    return { name: 'pty', status: 'missing', detail: `no terminal can be opened: ${reasonOf(error)}`, fix };
  }
}

async function examineFifos(platform: Platform): Promise<Finding[]> {
  try {
    const { directory, isInMemory } = await tryFifos(platform);
    const mkfifo: Finding = { name: 'mkfifo', status: 'ok', detail: 'makes named pipes' };
    if (isInMemory) return [mkfifo, { name: 'runtime', status: 'ok', detail: `${directory}, in memory` }];
    const detail = `${directory} is on a disk, which costs each command about a tenth of its time`;
    const fix = 'mount a tmpfs on /dev/shm that this user may write to';
    return [mkfifo, { name: 'runtime', status: 'warn', detail, fix }];
  } catch (error) {
    const fix = `apt-get install coreutils ${APT}; the temporary directory must be writable`;
    return [{ name: 'mkfifo', status: 'missing', detail: `no named pipes: ${reasonOf(error)}`, fix }];
  }
}

function examineDescriptors(): Finding[] {
  const limit = descriptorLimit();
  if (limit >= MIN_DESCRIPTORS) return [{ name: 'descriptors', status: 'ok', detail: `${limit} may be open` }];
  const detail = `only ${limit} may be open; a session takes about seven`;
  return [{ name: 'descriptors', status: 'warn', detail, fix: `raise the hard limit: ulimit -Hn ${MIN_DESCRIPTORS}` }];
}

function examineDirectory(name: string, path: string): Finding {
  if (canWriteBelow(path)) return { name, status: 'ok', detail: path };
  return { name, status: 'missing', detail: `${path} cannot be written to`, fix: `set ${name} to another place` };
}

/** Warns when other users may read the file. */
function examinePrivacy(name: string, path: string): Finding[] {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & 0o077) === 0) return [];
  const detail = `other users may get at ${path} (mode ${(mode & 0o777).toString(8)})`;
  return [{ name, status: 'warn', detail, fix: `chmod ${(mode & 0o700).toString(8)} ${path}` }];
}

/** Chooses the limit mechanism as the daemon does at its start. */
function examineMechanism({ env }: Surroundings, platform: Platform): Finding {
  const { mechanism, rejected } = chooseMechanism('auto', {
    instance: `doctor-${process.pid}`,
    path: env['PATH'] ?? '',
    platform,
  });
  mechanism[Symbol.dispose]();
  const why = rejected.map(({ mechanism: name, reason }) => `; ${name}: ${reason}`).join('');
  if (mechanism.isEnforced) {
    return { name: 'limits', status: 'ok', detail: `enforced by the kernel (${mechanism.name})${why}` };
  }
  const isNamespaceSpared = nameWithoutLimits(mechanism) !== mechanism.name;
  const scope = isNamespaceSpared ? '; what has no limit is in no namespace, and sees all processes' : '';
  const detail = `enforced by sampling processes (${mechanism.name}${scope}): memory and processes may exceed them for a moment${why}`;
  const fix = platform.can.controlGroups
    ? 'start the daemon as a systemd service with Delegate=yes, or where control groups are writable'
    : ON_LINUX;
  return { name: 'limits', status: 'warn', detail, fix };
}

/** Lists the limits of everything that runs. */
function examineLimits({ limits }: Surroundings): Finding[] {
  if (!limits) return [];
  const { resources, diskFreeMbFloor, net } = measureLimits(limits);
  const listed = (set: LimitSet) =>
    Object.entries({ ...set.resources, disk_free_mb: set.diskFreeMbFloor }).filter(([, value]) => value !== undefined);
  const own = new Set(listed(net).map(([name]) => name));
  const inForce = listed({ resources, diskFreeMbFloor }).map(
    ([name, value]) => `${name} ${value}${own.has(name) ? ' (safety net)' : ''}`,
  );
  if (inForce.length > 0) return [{ name: 'limits in force', status: 'ok', detail: inForce.join(', ') }];
  const detail = 'none: a single command can take all memory, processes and disk space';
  return [{ name: 'limits in force', status: 'warn', detail, fix: 'set adapter.safety_net: true' }];
}

/** Only checkpoints need git. */
async function examineGit({ env }: Surroundings): Promise<Finding> {
  const program = findProgram('git', env['PATH'] ?? '');
  const fix = `apt-get install git ${APT}`;
  if (program === undefined) {
    return { name: 'git', status: 'warn', detail: 'not installed: the workspace cannot be checkpointed', fix };
  }
  try {
    const { stdout } = await run(program, ['--version'], { env });
    return { name: 'git', status: 'ok', detail: `${program}, ${stdout.trim()}, for checkpoints` };
  } catch (error) {
    const detail = `${program} does not run: the workspace cannot be checkpointed (${reasonOf(error)})`;
    return { name: 'git', status: 'warn', detail, fix };
  }
}

const reasonOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n', 1)[0] ?? '';
