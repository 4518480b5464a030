import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, vi } from 'vitest';

import { instanceOf, isRunning } from '../../support/processes.js';
import type { TestDaemon } from '../../support/daemon.js';

const fixture = (name: string) => fileURLToPath(new URL(`../../fixtures/llm/${name}`, import.meta.url));

/** The tool that misbehaves as it is told. */
export const FAKE_CLI = fixture('fake-cli.sh');

/** Path of what a tool prints. */
export const samplePath = (name: string): string => fixture(`samples/${name}.jsonl`);

/** A shell provider of the configuration that behaves so. */
export const behaving = (...args: readonly (string | number)[]) => ({ command: FAKE_CLI, args: args.map(String) });

/**
 * A time for `sleep` that no other test run uses, in seconds: other runs on the same machine, and other test files, look for their own.
 * @param seconds whole seconds, at least 1000 so that the process never ends by itself
 */
export const uniqueSleep = (seconds: number): number => Number(`${seconds}.${process.pid}1`);

/** Runs whose `sleep` has this argument, which no other test uses. */
export const sleepers = (seconds: number): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && commandLineOf(pid).endsWith(`sleep\0${seconds}\0`) && isRunning(pid));

function commandLineOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    // It has ended.
    return '';
  }
}

/** Directories of runs that a daemon has not removed. */
export function scratchOf(daemon: TestDaemon): string[] {
  try {
    return readdirSync(join(tmpdir(), `shell-adapter-scratch-${userInfo().uid}`, instanceOf(daemon.pid)));
  } catch {
    // Nothing has run yet.
    return [];
  }
}

/** Waits until nothing of a run is left: one that ended by itself is swept a moment later. */
export const expectNothingLeft = (daemon: TestDaemon, ...seconds: readonly number[]): Promise<void> =>
  vi.waitFor(
    () => {
      expect(seconds.flatMap(sleepers)).toEqual([]);
      expect(scratchOf(daemon)).toEqual([]);
    },
    { timeout: 5000, interval: 20 },
  );
