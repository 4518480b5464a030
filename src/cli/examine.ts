import type { Configuration } from '../config/configuration.js';
import { loadConfiguration } from '../config/load.js';
import { findConfigurationFile } from '../config/locate.js';
import { ConfigurationError } from '../config/problems.js';
import { sandboxSurroundings } from '../config/sandbox-surroundings.js';
import { examineLlmProviders } from '../llm/doctor.js';
import { examineMachine, type Finding } from '../services/doctor.js';
import { TokenFiles } from '../services/access/token-files.js';
import type { Context } from './context.js';
import { type DaemonOptions, givenUrl, urlOf } from './daemon-address.js';
import { probeDaemon } from './probe.js';

/**
 * Everything that `doctor` looks at: the machine, the configuration, and whether a daemon answers.
 * @throws UsageError when the address that was given for the daemon is none
 */
export async function examine(context: Context, options: DaemonOptions): Promise<readonly Finding[]> {
  const { configuration, finding } = examineConfiguration(context, options);
  const { env } = context;
  const toolEnv = configuration?.childEnvironment ?? { PATH: env['PATH'] ?? '' };
  const llm = configuration ? examineLlmProviders({ settings: configuration.llm, env: toolEnv }) : [];
  const machine = await examineMachine({
    env: toolEnv,
    defaultShell: configuration?.adapter.shell ?? 'bash',
    directories: configuration
      ? {
          'adapter.workspace_directory': configuration.adapter.workspaceDirectory,
          'adapter.state_directory': configuration.adapter.stateDirectory,
        }
      : {},
    sandbox: configuration && sandboxSurroundings(configuration),
    privateFiles: configuration ? privateFilesOf(configuration) : {},
  });
  const installed: Finding = { name: 'version', status: 'ok', detail: `shell-adapter ${context.version}` };
  return [installed, ...machine, ...(await llm), finding, await examineDaemon(context, options, configuration)];
}

/** A configuration is a secret only where it holds some. */
const privateFilesOf = ({ adapter, audit, secrets, file }: Configuration): Record<string, string> => ({
  state: adapter.stateDirectory,
  'first token': new TokenFiles(adapter.stateDirectory).firstSecretFile,
  audit: audit.filePath,
  ...(file !== undefined && secrets.length > 0 && { 'configuration file': file }),
});

function examineConfiguration(
  { env, cwd }: Context,
  { config }: DaemonOptions,
): { readonly configuration?: Configuration; readonly finding: Finding } {
  const name = 'configuration';
  try {
    const configuration = loadConfiguration({ ...findConfigurationFile({ flag: config, env, cwd }), env, cwd });
    return { configuration, finding: { name, status: 'ok', detail: configuration.file ?? 'defaults' } };
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    const detail = error.message.split('\n').join('; ');
    return {
      finding: {
        name,
        status: 'missing',
        detail,
        fix: 'correct it; `shell-adapter config check FILE` tells when it is right',
      },
    };
  }
}

async function examineDaemon(
  context: Context,
  options: DaemonOptions,
  configuration: Configuration | undefined,
): Promise<Finding> {
  const { programName } = context;
  const url = givenUrl(options, context)?.url ?? (configuration && urlOf(configuration.socketio));
  if (url === undefined) return { name: 'daemon', status: 'warn', detail: 'not looked for: its port is not known' };
  if (await probeDaemon(url)) return { name: 'daemon', status: 'ok', detail: `answers at ${url}` };
  return { name: 'daemon', status: 'warn', detail: `none answers at ${url}`, fix: `start one: ${programName} serve` };
}
