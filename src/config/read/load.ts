import { findRuleFaults } from '../../core/policy/decision/rule-tests.js';
import type { Configuration } from '../model/configuration.js';
import { withModels } from './models-file.js';
import { type ConfigurationRequest, readConfiguration } from './read.js';

/**
 * Loads and checks a configuration, and puts the rules of the policy to their own tests. Reads the files, changes nothing:
 * it may be called again at any time, to reload.
 * @throws {ConfigurationError} with everything that is wrong.
 */
export function loadConfiguration(request: ConfigurationRequest): Configuration {
  return withModels(readConfiguration(request, findRuleFaults), request.env);
}
