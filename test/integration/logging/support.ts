import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { onTestFinished } from 'vitest';
import type { LoggingConfiguration } from '../../../src/config/model/configuration.js';
import { loadConfiguration } from '../../../src/config/read/load.js';
import { createLogging, type Logging, type LoggingOptions } from '../../../src/logging/logging.js';
import { eventually } from '../../support/measure.js';

/** The input of `logging`, in the file's names. */
export type LoggingInput = NonNullable<Parameters<typeof loadConfiguration>[0]['overrides']>['logging'];

/** A directory of the test's own, removed when it ends. */
export function makeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'shell-adapter-logging-'));
  onTestFinished(() => {
    rmSync(directory, { recursive: true, force: true });
  });
  return directory;
}

/** A stand-in for standard error that keeps what is written. */
export class FakeStderr extends Writable {
  text = '';
  isTTY = false;

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString();
    done();
  }

  hasColors(): boolean {
    return true;
  }
}

/** A logging section as the configuration makes it. */
export function configure(filePath: string, input: LoggingInput = {}): LoggingConfiguration {
  const logging = { log_format: '%(levelname)s %(name)s %(message)s', log_file_path: filePath, ...input };
  return loadConfiguration({ env: {}, cwd: '/', overrides: { logging } }).logging;
}

/** A log that is closed when the test ends, and what it says on standard error. */
export function start(
  filePath: string,
  input: LoggingInput = {},
  options: Partial<LoggingOptions> = {},
): { logging: Logging; stderr: FakeStderr } {
  const stderr = new FakeStderr();
  const logging = createLogging(configure(filePath, input), { console: false, stderr, ...options });
  onTestFinished(() => logging.close());
  return { logging, stderr };
}

/** The lines of a file. */
export function readLines(file: string): string[] {
  return readFileSync(file, 'utf8').split('\n').slice(0, -1);
}

/** The files that this process has open. */
export function listOpenFiles(): string[] {
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      return [readlinkSync(`/proc/self/fd/${descriptor}`)];
    } catch {
      // The descriptor that the directory was read through is closed by now.
      return [];
    }
  });
}

/** Resolves when a file ends with this line. */
export async function untilWritten(file: string, line: string): Promise<void> {
  await eventually(() => {
    if (readLines(file).at(-1) !== line) throw new Error(`${file} does not end with ${line}`);
  });
}
