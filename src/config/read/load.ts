import { findRuleFaults } from '../../core/policy/decision/rule-tests.js';
import type { Configuration } from '../model/configuration.js';
import { withModels } from './models-file.js';
import { type ConfigurationRequest, readConfiguration } from './read.js';

/**
 * Loads and validates a configuration, and runs the tests that the rules of the policy contain. It only reads files, so
 * it can be called again at any time to reload.
 * @throws {ConfigurationError} with all problems
 */
export function loadConfiguration(request: ConfigurationRequest): Configuration {
  return withModels(readConfiguration(request, findRuleFaults), request.env);
}
