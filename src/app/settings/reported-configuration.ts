import type { Configuration } from '../../config/model/configuration.js';
import type { ConfirmationMode } from '../../core/confirmation/modes.js';
import { COMMAND_CLASSES } from '../../core/policy/model/classes.js';
import type { ServedParts } from '../../services/machine/metadata.js';
import type { ReportedConfiguration } from '../../services/machine/daemon-status.js';

/** The parts of the configuration that `daemon_status` reports. */
export const reportedConfiguration = (configuration: Configuration): ReportedConfiguration => ({
  file: configuration.file,
  workspaceDirectory: configuration.adapter.workspaceDirectory,
  stateDirectory: configuration.adapter.stateDirectory,
  logFile: configuration.logging.logFilePath,
  hasDashboard: configuration.http.dashboard,
  confirmedBy: confirmersOf(configuration),
});

/** The parts of the configuration that `shell_metadata` reports. */
export const servedParts = ({
  http: { dashboard, openai, mcp, metrics },
  environments,
  confirmation,
  audit,
}: Configuration): ServedParts => ({
  http: { dashboard, openai, mcp, metrics },
  environments: Object.keys(environments),
  confirmation_mode: confirmation.mode,
  audit_enabled: audit.enabled,
});

/** The confirmation modes that a command may require; none if confirmation is off. */
function confirmersOf({ confirmation }: Configuration): ConfirmationMode[] {
  const { mode, actions, modes, rules } = confirmation;
  if (mode === 'off') return [];
  const ofClasses = COMMAND_CLASSES.flatMap((name) => (actions[name] === 'confirm' ? [modes[name] ?? mode] : []));
  return [...ofClasses, ...(rules.some(({ action }) => action === 'confirm') ? [mode] : [])];
}
