import { execFile } from 'node:child_process';
import { arch, availableParallelism, hostname, release } from 'node:os';
import { realpath, statfs } from 'node:fs/promises';
import { basename } from 'node:path';
import { promisify } from 'node:util';

import type { Principal } from '../../core/principal.js';
import type { LimitSet, LimitsInForce } from '../../core/limits.js';
import { PROTOCOL_VERSION } from '../../core/protocol/fields.js';
import type { Answer } from '../../core/protocol/requests.js';
import { nameWithoutLimits } from '../../engine/limits/mechanism.js';
import type { ChosenMechanism } from '../../engine/limits/probe.js';
import type { SandboxStatus } from '../../core/sandbox.js';
import type { Platform } from '../../engine/platform/platform.js';
import { ownUserName } from '../../engine/system/own-user.js';
import { installedShells } from '../../engine/shells/list.js';
import { renderLimits } from '../registry/rendered-limits.js';
import type { Executions } from '../executions.js';

const run = promisify(execFile);

/** Timeout for reading a shell's version, in milliseconds. */
const VERSION_TIMEOUT_MS = 5000;

/** The settings in effect that `shell_metadata` reports. */
export type MetadataSettings = Pick<
  Answer<'shell_metadata'>,
  'limits' | 'http' | 'environments' | 'confirmation_mode' | 'audit_enabled'
>;

interface MetadataOptions {
  readonly executions: Executions;
  readonly instance: string;
  readonly version: string;
  readonly settings: () => MetadataSettings;
  readonly limits: () => LimitsInForce;
  readonly chosen: ChosenMechanism;
  readonly platform: Platform;
  /** Name of this node of a cluster; undefined for a daemon alone. */
  readonly node: string | undefined;
}

export interface ShellVersion {
  readonly name: string;
  readonly path: string;
  readonly version: string;
}

/** Reads the versions of the installed shells. */
export async function shellVersions(env: Readonly<Record<string, string>>): Promise<ShellVersion[]> {
  const installed = installedShells(env['PATH'] ?? '');
  return Promise.all(
    installed.map(async ({ shell, path }) => {
      const version = await versionOf(path, shell.versionArgs, env);
      return { name: shell.name, path, version };
    }),
  );
}

async function versionOf(
  path: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string> {
  if (args.length === 0) return `${basename(await realpath(path))} (version not reported)`;
  try {
    const { stdout } = await run(path, [...args], { env, timeout: VERSION_TIMEOUT_MS });
    return stdout.split('\n', 1)[0] ?? '';
  } catch (error) {
    return `version unknown (${(error as Error).message.split('\n', 1)[0] ?? ''})`;
  }
}

/** Describes the machine. Facts that cannot change are read once. */
export class Metadata {
  readonly #options: MetadataOptions;
  #fixed: Promise<{ operatingSystem: string; shells: ShellVersion[] }> | undefined;

  constructor(options: MetadataOptions) {
    this.#options = options;
  }

  async describe(principal: Principal): Promise<Answer<'shell_metadata'>> {
    const { pool } = this.#options.executions.of(principal);
    const workspace = pool.cwd;
    const { executions, instance, version, settings, limits, chosen, platform, node } = this.#options;
    const { defaultShell } = executions.own.pool;
    this.#fixed ??= this.#gatherFixed();
    const { mem } = await import('systeminformation');
    const [{ operatingSystem, shells }, memory, disk] = await Promise.all([this.#fixed, mem(), diskOf(workspace)]);
    const shell = shells.find(({ path }) => path === defaultShell.path);
    return {
      operating_system: operatingSystem,
      platform: platform.name,
      shell: `${defaultShell.shell.name} ${shell?.version ?? defaultShell.path}`,
      workspace_directory: workspace,
      architecture: arch(),
      kernel: release(),
      hostname: hostname(),
      user: principal.runAs ?? ownUserName(),
      cpus: availableParallelism(),
      memory_bytes: memory.total,
      memory_available_bytes: memory.available,
      disk_bytes: disk?.total ?? null,
      disk_free_bytes: disk?.free ?? null,
      shells,
      resource_limits: describeLimits(limits(), chosen),
      sandbox: describeSandbox(pool.sandbox),
      ...settings(),
      node: node ?? null,
      instance_id: instance,
      adapter_version: version,
      protocol_version: PROTOCOL_VERSION,
    };
  }

  async #gatherFixed(): Promise<{ operatingSystem: string; shells: ShellVersion[] }> {
    const { osInfo } = await import('systeminformation');
    const [os, shells] = await Promise.all([osInfo(), shellVersions(this.#options.executions.own.pool.env)]);
    return { operatingSystem: operatingSystemName(os), shells };
  }
}

const describeLimits = (
  { configured, net, isConfigured }: LimitsInForce,
  { mechanism, rejected }: ChosenMechanism,
): Answer<'shell_metadata'>['resource_limits'] => ({
  ...renderSet(configured),
  safety_net: renderSet(net),
  mechanism: mechanism.name,
  mechanism_in_use: isConfigured ? mechanism.name : nameWithoutLimits(mechanism),
  enforced: mechanism.isEnforced,
  rejected: [...rejected],
});

const renderSet = ({ resources, diskFreeMbFloor }: LimitSet) => ({
  ...renderLimits(resources),
  disk_free_mb: diskFreeMbFloor ?? null,
});

const describeSandbox = ({ profile, configured, available, reason }: SandboxStatus) => ({
  profile,
  configured,
  available: [...available],
  reason: reason ?? null,
});

/** Common form of the name: "Debian GNU/Linux 12 (bookworm)", "Ubuntu 22.04.3 LTS". */
function operatingSystemName({
  distro,
  release: version,
  codename,
}: {
  distro: string;
  release: string;
  codename: string;
}): string {
  const name = distro.includes(version) ? distro : `${distro} ${version}`;
  return codename === '' || name.includes(codename) ? name : `${name} (${codename})`;
}

async function diskOf(path: string): Promise<{ total: number; free: number } | undefined> {
  try {
    const { blocks, bavail, bsize } = await statfs(path);
    return { total: blocks * bsize, free: bavail * bsize };
  } catch {
    // The workspace has been removed.
    return undefined;
  }
}
