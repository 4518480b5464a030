import { expect } from 'vitest';

import { SHELL_NAMES, type ShellName } from './harness.js';
import type { CommandOptions, Result, TestSession } from './test-session.js';

/** What a result must be. What is left out must be as after `true`: no output, exit code 0, the same shell. */
export interface Expected {
  readonly stdout?: string | RegExp;
  readonly stderr?: string | RegExp;
  readonly exitCode?: number;
  readonly status?: Result['status'];
  readonly sessionState?: Result['sessionState'];
  /** Relative to the session's directory. */
  readonly workingDirectory?: string;
}

/** Where one shell gives something else, by its nature, and why. */
export type Differences = Partial<Record<ShellName, Expected & { readonly because: string }>>;

/** One command, and what must come of it. */
export interface Step {
  readonly command: string;
  readonly expected: Expected;
  readonly differences: Differences;
  readonly options: CommandOptions;
}

/** Commands that run in order in a session of their own. */
export interface Row {
  readonly title: string;
  readonly steps: readonly Step[];
  /** Shells that have what the row is about; all by default. */
  readonly only?: readonly ShellName[];
  /** Whether a sandbox does not let it come to what the row is about. */
  readonly isPrevented?: boolean;
}

/** A command that every shell answers alike, but for the differences. */
export const run = (command: string, expected: Expected = {}, differences: Differences = {}): Step => ({
  command,
  expected,
  differences,
  options: {},
});

/** The same with options. */
export const runWith = (
  options: CommandOptions,
  command: string,
  expected: Expected = {},
  differences: Differences = {},
): Step => ({ ...run(command, expected, differences), options });

/** A command that shows that the session still answers exactly. */
export const alive: Step = run('echo "alive; $((1 + 1))"', { stdout: 'alive; 2\n' });

/** The row's title for one shell, with its expected differences. */
export function titleFor(row: Row, shell: ShellName): string {
  const reasons = row.steps.map(({ differences }) => differences[shell]?.because).filter((why) => why !== undefined);
  return reasons.length === 0 ? row.title : `${row.title} (${shell}: ${[...new Set(reasons)].join('; ')})`;
}

/**
 * Runs a row's commands and checks each.
 * @param timeoutMs of each command that has none
 */
export async function check(row: Row, shell: ShellName, session: TestSession, timeoutMs?: number): Promise<void> {
  for (const { command, expected, differences, options } of row.steps) {
    const result = await session.run(command, { ...(timeoutMs !== undefined && { timeoutMs }), ...options });
    expectResult(result, differences[shell] ?? expected, command, session.directory);
  }
}

/** Checks a result in all that counts. */
export function expectResult(result: Result, expected: Expected, command: string, directory: string): void {
  const { stdout = '', stderr = '', exitCode = 0, status = 'completed', sessionState = 'alive' } = expected;
  const actual = {
    command: command.slice(0, 200),
    stdout: result.stdout,
    stderr: result.stderr,
    exitCode: result.exitCode,
    status: result.status,
    sessionState: result.sessionState,
    ...(expected.workingDirectory !== undefined && { workingDirectory: result.workingDirectory }),
  };
  expect(actual).toEqual({
    command: command.slice(0, 200),
    stdout: stdout instanceof RegExp ? (expect.stringMatching(stdout) as string) : stdout,
    stderr: stderr instanceof RegExp ? (expect.stringMatching(stderr) as string) : stderr,
    exitCode,
    status,
    sessionState,
    ...(expected.workingDirectory !== undefined && { workingDirectory: `${directory}${expected.workingDirectory}` }),
  });
}

/** All shells but these. */
export const allBut = (...names: readonly ShellName[]): ShellName[] =>
  SHELL_NAMES.filter((name) => !names.includes(name));

/** Titles of the rows that are about more than one shell. */
export const sharedTitles = (rows: readonly Row[]): string[] =>
  rows.flatMap(({ title, only }) => (only?.length === 1 ? [] : [title]));
