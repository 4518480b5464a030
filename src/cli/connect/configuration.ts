import type { Configuration } from '../../config/model/configuration.js';
import { type ConfigurationSource, findConfigurationFile } from '../../config/read/locate.js';
import { type ConfigurationRequest, readConfiguration, skipRuleTests } from '../../config/read/read.js';
import type { Context } from '../console/context.js';

/**
 * Finds the configuration file of this call. Says once which file is ignored because it is not trusted.
 * @param flag value of `--config`
 * @throws ConfigurationError
 */
export function findConfiguration(
  context: Context,
  flag: string | undefined,
): ConfigurationSource & ConfigurationRequest {
  const { env, cwd } = context;
  const source = findConfigurationFile({ flag, env, cwd });
  if (source.untrusted !== undefined) context.warnOnce(`${source.untrusted} is ignored: ${trustAdvice(context)}`);
  return { ...source, env, cwd };
}

/**
 * Reads the configuration of this call, without the tests of its rules, which only a daemon needs.
 * @param flag value of `--config`
 * @throws ConfigurationError
 */
export const configurationOf = (context: Context, flag: string | undefined): Configuration =>
  readConfiguration(findConfiguration(context, flag), skipRuleTests);

/** How a user gets the file below the current directory used. */
export const trustAdvice = ({ programName }: Context): string =>
  `read it, and trust it with \`${programName} config trust\` if it is yours`;
