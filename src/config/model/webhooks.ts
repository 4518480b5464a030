import { readFileSync } from 'node:fs';

import { Secret } from '../../core/secret.js';
import { secondsToMs } from '../fields/fields.js';
import { ConfigurationError } from './problems.js';
import type { CheckedConfiguration } from './schema.js';

type WrittenWebhook = CheckedConfiguration['notify']['webhooks'][number];

/**
 * The webhooks of a configuration, with the names and units of the code.
 * @throws ConfigurationError when the file of a secret cannot be read, or is too short
 */
export const toWebhooks = ({ webhooks }: CheckedConfiguration['notify']) =>
  webhooks.map((written, index) => {
    const { url, events, format, timeout, attempts, include_command: includeCommand } = written;
    return {
      url,
      events,
      format,
      timeoutMs: secondsToMs(timeout),
      attempts,
      includeCommand,
      secret: secretOf(written, index),
    };
  });

function secretOf({ secret, secret_file: file }: WrittenWebhook, index: number): Secret | undefined {
  if (file === undefined) return secret === undefined ? undefined : new Secret(secret);
  const path = `notify.webhooks[${index}].secret_file`;
  const content = readSecret(file, path);
  if (content.length >= MIN_SECRET_CHARACTERS) return new Secret(content);
  throw problem(path, `${file} has to have ${MIN_SECRET_CHARACTERS} characters or more`);
}

const MIN_SECRET_CHARACTERS = 16;

function readSecret(file: string, path: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw problem(path, `cannot be read: ${(cause as Error).message}`);
  }
}

const problem = (path: string, message: string): ConfigurationError =>
  new ConfigurationError([{ file: 'configuration', line: undefined, column: undefined, path, message }]);
