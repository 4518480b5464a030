import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Configuration } from '../../../src/config/model/configuration.js';
import { loadConfiguration } from '../../../src/config/read/load.js';
import type { ConfigurationRequest } from '../../../src/config/read/read.js';
import { ConfigurationError, type ConfigurationProblem } from '../../../src/config/model/problems.js';

/** The directory that the daemon of these tests was started in. */
export const CWD = '/srv/start';

/** An environment with as little as there can be. */
export const BARE_ENV = { HOME: '/home/ada' };

/** A directory of the test's own, removed when it ends. */
export function makeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'shell-adapter-config-'));
  // Not afterEach: files share this module, so that it would be registered for the first of them alone.
  onTestFinished(() => {
    rmSync(directory, { recursive: true, force: true });
  });
  return directory;
}

/** Writes a file with this text and gives its path. */
export function writeConfig(text: string | Buffer, name = 'test.yaml'): string {
  const file = join(makeDirectory(), name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

/** Loads a configuration from a file with this text, also outside of a test. */
export function load(text: string, request: Partial<ConfigurationRequest> = {}): Configuration {
  // Without a directory of its own: some file systems take milliseconds to remove one.
  const file = join(tmpdir(), `shell-adapter-config-${randomUUID()}.yaml`);
  try {
    writeFileSync(file, text);
    return loadConfiguration({ file, env: BARE_ENV, cwd: CWD, ...request });
  } finally {
    rmSync(file, { force: true });
  }
}

/** The error that loading raises; fails the test when it raises none. */
export function catchError(action: () => unknown): ConfigurationError {
  try {
    action();
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
  throw new Error('the configuration was accepted');
}

/** What is wrong with a file of this text, as `LINE:COLUMN path: message`. */
export function problemsOf(text: string, request: Partial<ConfigurationRequest> = {}): string[] {
  return catchError(() => load(text, request)).problems.map(formatShort);
}

function formatShort({ file, line, column, path, message }: ConfigurationProblem): string {
  return `${line === undefined || column === undefined ? file : `${line}:${column}`} ${path}: ${message}`;
}
