import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

import type { Log } from '../core/logging/log.js';
import { NO_METRICS } from '../core/metrics/metrics.js';
import type { SandboxStatus } from '../core/sandbox/status.js';
import type { Platform } from '../engine/platform/platform.js';
import { makeRuntimeDirectory } from '../engine/instance/runtime-directory.js';
import { removeTreeSync } from '../engine/system/local-files.js';
import { findCoverPrograms } from '../engine/sandbox/cover-keeper.js';
import { Launcher, type LauncherOptions } from '../engine/sandbox/launcher.js';
import { findProgram } from '../engine/shells/list.js';
import { APT, type Finding, ON_LINUX } from './finding.js';

const run = promisify(execFile);
const noop = () => undefined;
/** Nothing is reported but what the examination finds. */
const QUIET: Log = { debug: noop, info: noop, warn: noop, error: noop };

/** What the sandboxes of a daemon depend on. */
interface SandboxSurroundings {
  /** Environment variables of the shells. */
  readonly env: Readonly<Record<string, string>>;
  /** Sandbox options; undefined when the configuration cannot be read. */
  readonly sandbox: Omit<LauncherOptions, 'runtimeParent' | 'directory' | 'platform'> | undefined;
}

/** Examines the sandboxes. A failure here occurs in the daemon too. The sandbox is optional unless one is configured. */
export async function examineSandbox({ env, sandbox }: SandboxSurroundings, platform: Platform): Promise<Finding[]> {
  if (!sandbox) return [];
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
async function testSandboxes(
  sandbox: NonNullable<SandboxSurroundings['sandbox']>,
  platform: Platform,
): Promise<SandboxStatus> {
  const runtime = makeRuntimeDirectory(platform);
  try {
    const options = { ...sandbox, platform, runtimeParent: dirname(runtime.path), directory: runtime.path };
    await using launcher = await Launcher.find(options, { metrics: NO_METRICS, log: QUIET });
    return launcher.standing;
  } finally {
    removeTreeSync(runtime.path);
  }
}
