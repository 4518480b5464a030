import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { linux } from '../../../src/engine/platform/linux/linux.js';
import { posix } from '../../../src/engine/platform/posix/posix.js';
import { canSandbox } from '../../support/sandbox.js';
import { ShellHarness, type ShellName } from './harness.js';
import { HOSTILE_ROWS } from './hostile-rows.js';
import { inputTests } from './input-tests.js';
import { interruptTests } from './interrupt-tests.js';
import { endTests, jobTests } from './job-tests.js';
import { oneShotTests } from './one-shot-tests.js';
import { OUTPUT_ROWS } from './output-rows.js';
import { restoreTests } from './restore-tests.js';
import { STATE_ROWS } from './state-rows.js';
import { check, type Row, titleFor } from './table.js';
import { valueTests } from './value-tests.js';

/** What shells can be in: nothing, a sandbox, or a namespace of process ids, which bubblewrap makes as well. */
const SURROUNDINGS = [
  { platform: linux, sandbox: 'none', mechanism: 'auto' },
  ...(canSandbox
    ? ([
        { platform: linux, sandbox: 'workspace', mechanism: 'auto' },
        { platform: linux, sandbox: 'none', mechanism: 'pid_namespace' },
      ] as const)
    : []),
] as const;
const TITLE = 'SHELL, sandbox $sandbox, limits by $mechanism, platform $platform.name';

/** What the engine does without /proc, or anything else of Linux. */
export const WITH_POSIX = [{ platform: posix, sandbox: 'none', mechanism: 'auto' }] as const;

/**
 * Rows that fail without /proc, by shell, and why: then the command ends at its time-out. One that passes all the same is
 * an error.
 */
const POSIX_EXCEPTIONS: Readonly<Partial<Record<ShellName, Readonly<Record<string, string>>>>> = {
  sh: {
    'set -n': 'that the shell waits for a request, and not for the command, is not known',
    'the driver’s own files, removed': 'the same',
  },
};

/** Enough for a shell to be replaced, which is what does not happen there. */
const FAILING_TIMEOUT_MS = 2000;

/** The tests that every shell must pass, for one shell in all that it can be in. */
export function shellContract(
  shell: ShellName,
  surroundings: typeof SURROUNDINGS | typeof WITH_POSIX = SURROUNDINGS,
): void {
  describe.each<(typeof surroundings)[number]>(surroundings)(
    TITLE.replace('SHELL', shell),
    ({ platform, sandbox, mechanism }) => {
      let bench: ShellHarness;
      beforeAll(async () => {
        bench = await ShellHarness.start(shell, { profile: sandbox, limitMechanism: mechanism, platform });
      });
      afterAll(async () => {
        await bench[Symbol.asyncDispose]();
        expect(await bench.leftovers()).toEqual({ processes: [], descriptors: 0 });
      });
      const open = (wedgeTimeoutMs?: number) => bench.openSession(wedgeTimeoutMs);

      describe('output and text', () => {
        tableTests(OUTPUT_ROWS, shell);
      });
      describe('state and the ends of commands', () => {
        tableTests(STATE_ROWS, shell);
        valueTests(shell, open);
        restoreTests(shell, open, platform.can.openFiles);
      });
      describe('hostile commands', () => {
        tableTests(HOSTILE_ROWS, shell);
      });
      describe('interrupts', () => {
        interruptTests(shell, open, platform.can.openFiles);
      });
      describe('input', () => {
        inputTests(shell, open);
      });
      describe('background jobs', () => {
        jobTests(shell, open);
      });
      describe('resources and the end', () => {
        endTests(shell, open, platform.can.openFiles);
      });

      // They are started by the test, which no platform changes.
      if (platform === linux) {
        describe('one-shots', () => {
          oneShotTests(shell, () => bench.installed);
        });
      }

      function tableTests(rows: readonly Row[], name: ShellName): void {
        for (const row of rows) {
          if (row.only?.includes(name) === false || (row.isPrevented && sandbox !== 'none')) continue;
          const fault = platform.name === 'posix' ? POSIX_EXCEPTIONS[name]?.[row.title] : undefined;
          const why = fault === undefined ? '' : ` (fails on posix: ${fault})`;
          // What is expected to fail is not repeated until it passes.
          const expected = fault === undefined ? {} : { fails: true, retry: 0 };
          test(`${titleFor(row, name)}${why}`, expected, async () => {
            await using session = await bench.openSession();
            await check(row, name, session, fault === undefined ? undefined : FAILING_TIMEOUT_MS);
          });
        }
      }
    },
  );
}
