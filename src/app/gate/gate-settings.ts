import { type Configuration, withDaemon } from '../../config/model/configuration.js';
import { ConfigurationError } from '../../config/model/problems.js';
import type { PolicyFacts } from '../../core/policy/model/facts.js';
import { type Policy, withoutCheckpoints } from '../../core/policy/decision/policy.js';
import { compileRule } from '../../core/policy/decision/rules.js';
import type { ConfirmationSettings } from '../../services/confirmations/options.js';
import type { GateSettings } from '../../services/gate/gate-options.js';

/**
 * Settings of the gate.
 * @throws {ConfigurationError} when a rule is invalid; a configuration from a file has only valid rules
 */
export function gateSettings({ confirmation, childEnvironment, file }: Configuration): GateSettings {
  const rules = confirmation.rules.map((definition, index) => {
    const compiled = compileRule(definition, childEnvironment['HOME']);
    if ('rule' in compiled) return compiled.rule;
    const { field, message } = compiled.problem;
    const path = `confirmation.rules[${index}].${field}`;
    throw new ConfigurationError([
      { file: file ?? 'configuration', line: undefined, column: undefined, path, message },
    ]);
  });
  const written: Policy = { actions: confirmation.actions, rules };
  const confirmingPolicy = withoutCheckpoints(written);
  const policy = confirmation.checkpoint ? written : confirmingPolicy;
  return { isEnforced: confirmation.mode !== 'off', policy, confirmingPolicy };
}

/**
 * Files that control the gate or that the daemon needs. Its state contains tokens, and the runtime directories those
 * texts of commands, of all owners, that do not fit into a request.
 */
export function ownPaths(
  configuration: Configuration,
  runtimeParent: string,
): Pick<PolicyFacts, 'protectedPaths' | 'secretPaths'> {
  const { adapter, recording, cluster } = configuration;
  const { stateDirectory } = adapter;
  const written = withDaemon(configuration).flatMap(({ file, choiceFiles, logging, audit }) => [
    ...(file === undefined ? [] : [file]),
    ...choiceFiles,
    logging.logFilePath,
    audit.file,
  ]);
  const keys = [cluster.tls.key, cluster.secretFile].filter((path) => path !== undefined);
  return {
    protectedPaths: [stateDirectory, recording.directory, runtimeParent, ...written],
    secretPaths: [stateDirectory, recording.directory, runtimeParent, ...keys],
  };
}

/** Settings of confirmations. With the gate off no confirmation is requested. */
export const confirmationSettings = ({ confirmation }: Configuration): ConfirmationSettings => ({
  mode: confirmation.mode === 'off' ? 'operator' : confirmation.mode,
  modes: confirmation.modes,
  expiresMs: confirmation.expiresMs,
  reviewTimeoutMs: confirmation.reviewer.timeoutMs,
});
