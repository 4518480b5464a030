import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { ConfigurationError } from '../../../src/config/model/problems.js';
import { readConfiguration, readSettings, skipRuleTests } from '../../../src/config/read/read.js';

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'shell-adapter-webhooks-'));
});
afterAll(() => {
  rmSync(directory, { recursive: true });
});

const sourceOf = (webhook: object) => {
  const file = join(directory, 'config.yaml');
  writeFileSync(file, JSON.stringify({ notify: { webhooks: [webhook] } }));
  return { file, env: {}, cwd: directory };
};

const url = 'https://example.org/services/hidden-path';
const secret = 'a-secret-of-the-webhook';

describe('a webhook of the configuration', () => {
  it('has defaults, and a secret that is masked everywhere', () => {
    const { notify, secrets } = readConfiguration(sourceOf({ url, secret }), skipRuleTests);
    expect(notify.webhooks).toEqual([
      expect.objectContaining({ url, timeoutMs: 5000, attempts: 5, format: 'json', includeCommand: false }),
    ]);
    expect(notify.webhooks[0]?.secret?.reveal()).toBe(secret);
    expect(secrets).toContain(secret);
  });

  it('reads its secret from a file', () => {
    const file = join(directory, 'secret');
    writeFileSync(file, `${secret}\n`);
    const { notify } = readConfiguration(sourceOf({ url, secret_file: file }), skipRuleTests);
    expect(notify.webhooks[0]?.secret?.reveal()).toBe(secret);
  });

  it('shows neither its URL nor its secret', () => {
    const shown = JSON.stringify(readSettings(sourceOf({ url, secret }), skipRuleTests).listSettings());
    expect(shown).toContain('notify');
    expect(shown).not.toMatch(/hidden-path|a-secret-of/);
  });

  it.each<[object, RegExp]>([
    [{ url: 'http://example.org/' }, /url: has to be an https URL, or an http URL of this machine/],
    [{ url: 'https://user:hidden-path@example.org/' }, /url: has to be/],
    [{ url, secret: 'short' }, /secret: has to have 16 characters or more/],
    [{ url, secret, secret_file: '/x' }, /secret_file: goes without secret/],
    [{ url, secret_file: '/nowhere/secret' }, /secret_file: cannot be read/],
    [{ url, events: ['all'] }, /events\[0\]: must be one of confirmation_required/],
    [{ url, attempts: 0 }, /attempts: must be a whole number/],
  ])('%j is refused', (webhook, message) => {
    const read = () => readConfiguration(sourceOf(webhook), skipRuleTests);
    expect(read).toThrow(ConfigurationError);
    expect(read).toThrow(message);
    expect(read).not.toThrow(/hidden-path/);
  });

  it('may be on this machine without TLS', () => {
    for (const host of ['127.0.0.1', 'localhost', '[::1]']) {
      expect(() => readConfiguration(sourceOf({ url: `http://${host}:9000/` }), skipRuleTests)).not.toThrow();
    }
  });
});
