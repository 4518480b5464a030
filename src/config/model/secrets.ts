import { readFileSync } from 'node:fs';

import { ConfigurationError } from './problems.js';
import type { CheckedConfiguration } from './schema.js';
import { isMaskable } from '../sections/secrets.js';

/**
 * Reads the secrets of a configuration, whose paths are absolute.
 * @throws ConfigurationError when a secret cannot be read, or is too short to be distinguished from other words; the
 * message does not contain the secret
 */
export function readSecrets(
  { values, environment, files }: CheckedConfiguration['secrets'],
  env: NodeJS.ProcessEnv,
): readonly string[] {
  const fromEnvironment = environment.flatMap((name, index) => {
    const value = env[name] ?? '';
    if (value === '') return [];
    return [checked(value, `secrets.environment[${index}]`, `the value of ${name}`)];
  });
  const fromFiles = files.map((file, index) => {
    const path = `secrets.files[${index}]`;
    return checked(readSecretFile(file, path), path, file);
  });
  return [...values, ...fromEnvironment, ...fromFiles];
}

function checked(secret: string, path: string, what: string): string {
  if (isMaskable(secret)) return secret;
  throw problem(path, `${what} has no line that is long enough to be masked: 8 characters or more`);
}

function readSecretFile(file: string, path: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw problem(path, `cannot be read: ${(cause as Error).message}`);
  }
}

const problem = (path: string, message: string): ConfigurationError =>
  new ConfigurationError([{ file: 'configuration', line: undefined, column: undefined, path, message }]);
