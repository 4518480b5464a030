import type { Principal } from '../../core/access/principal.js';
import { CONFIRMATION_MODES, type ConfirmationMode } from '../../core/confirmation/modes.js';
import { PROTOCOL_VERSION } from '../../core/protocol/fields.js';
import type { Answer } from '../../core/protocol/requests.js';
import type { EventPayload } from '../../core/protocol/results.js';
import { ownUserName } from '../../engine/system/own-user.js';
import type { Platform } from '../../engine/platform/platform.js';

/** The parts of the configuration in force that `daemon_status` reports. */
export interface ReportedConfiguration {
  readonly file: string | undefined;
  readonly workspaceDirectory: string;
  readonly stateDirectory: string;
  readonly logFile: string;
  readonly hasDashboard: boolean;
  readonly confirmedBy: readonly ConfirmationMode[];
}

/** What `DaemonStatus` reads from the daemon. */
export interface DaemonStatusOptions {
  readonly platform: Platform;
  readonly instanceId: string;
  readonly version: string;
  readonly configuration: () => ReportedConfiguration;
  readonly workload: () => Pick<Answer<'daemon_status'>, 'sessions' | 'running_commands' | 'clients'>;
}

/** Describes this run of the daemon. */
export class DaemonStatus {
  /** Payload of the first event of every connection. */
  readonly identity: EventPayload<'daemon_info'>;
  readonly #options: DaemonStatusOptions;
  readonly #startedAt = new Date(Date.now() - process.uptime() * 1000);

  constructor(options: DaemonStatusOptions) {
    this.#options = options;
    const { instanceId, version } = options;
    this.identity = { instance_id: instanceId, adapter_version: version, protocol_version: PROTOCOL_VERSION };
  }

  /** Returns the answer to `daemon_status`. */
  describe({ name, role, runAs, isLocalPeer }: Principal): Answer<'daemon_status'> {
    const { configuration, workload, platform } = this.#options;
    const { file = null, workspaceDirectory, stateDirectory, logFile, hasDashboard, confirmedBy } = configuration();
    return {
      ...this.identity,
      pid: process.pid,
      process_identity: platform.processes.identityOf(process.pid) ?? null,
      user: ownUserName(),
      started_at: this.#startedAt.toISOString(),
      uptime_ms: Math.round(process.uptime() * 1000),
      configuration_file: file,
      workspace_directory: workspaceDirectory,
      state_directory: stateDirectory,
      log_file: logFile,
      dashboard: hasDashboard,
      ...workload(),
      confirmed_by: CONFIRMATION_MODES.filter((mode) => confirmedBy.includes(mode)),
      caller: { name, role, ...(runAs !== undefined && { run_as: runAs }), has_token: !isLocalPeer },
    };
  }
}
