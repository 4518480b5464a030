import { stripVTControlCharacters } from 'node:util';
import type { Reporter, SerializedError, TestCase, TestModule } from 'vitest/node';

/** One row of the report. */
interface Row {
  readonly group: string;
  readonly title: string;
  readonly outcome: 'held' | 'failed' | 'skipped';
  /** Why it was skipped, or what was wrong; empty where it held. */
  readonly reason: string;
}

/** Longest reason that is shown, in characters. */
const MAX_REASON = 300;

/** Prints what held, what did not, and what could not be shown, by group; as JSON when SHELL_ADAPTER_CONFORMANCE_JSON is set. */
export default class SecurityReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const rows = modules.flatMap((module) => [...module.children.allTests()]).map(rowOf);
    const errors = [...modules.flatMap((module) => module.errors()), ...unhandled].map(({ message }) => message);
    const text = process.env['SHELL_ADAPTER_CONFORMANCE_JSON'] === undefined ? textOf : jsonOf;
    process.stdout.write(`${text(rows, errors)}\n`);
  }
}

function rowOf(test: TestCase): Row {
  const { state, errors = [] } = test.result();
  const group = test.parent.type === 'suite' ? test.parent.fullName : '';
  const failure = stripVTControlCharacters(errors.map(({ message }) => message).join('; ')).slice(0, MAX_REASON);
  if (state === 'skipped') return { group, title: test.name, outcome: 'skipped', reason: noteOf(test) };
  return { group, title: test.name, outcome: state === 'passed' ? 'held' : 'failed', reason: failure };
}

const noteOf = (test: TestCase): string => {
  const result = test.result();
  return result.state === 'skipped' ? (result.note ?? '') : '';
};

const jsonOf = (rows: readonly Row[], errors: readonly string[]): string =>
  JSON.stringify({ counts: countsOf(rows), errors, rows }, null, 2);

function textOf(rows: readonly Row[], errors: readonly string[]): string {
  const groups = [...new Set(rows.map(({ group }) => group))];
  const width = Math.max(...groups.map(({ length }) => length), 0);
  const line = (title: string, { held, failed, skipped }: Counts) =>
    `${title.padEnd(width)}  ${String(held).padStart(5)} held  ${String(failed).padStart(4)} failed  ${String(skipped).padStart(4)} skipped`;
  const failures = rows.filter(({ outcome }) => outcome === 'failed');
  const reasons = [...new Set(rows.filter(({ outcome }) => outcome === 'skipped').map(({ reason }) => reason))];
  return [
    ...groups.map((group) => line(group, countsOf(rows.filter((row) => row.group === group)))),
    line('all', countsOf(rows)),
    ...failures.map(({ group, title, reason }) => `FAILED  ${group}\n        ${title}\n        ${reason}`),
    ...reasons.map((reason) => `skipped: ${reason}`),
    ...errors.map((message) => `ERROR   ${stripVTControlCharacters(message)}`),
  ].join('\n');
}

type Counts = Readonly<Record<Row['outcome'], number>>;

const countsOf = (rows: readonly Row[]): Counts => ({
  held: rows.filter(({ outcome }) => outcome === 'held').length,
  failed: rows.filter(({ outcome }) => outcome === 'failed').length,
  skipped: rows.filter(({ outcome }) => outcome === 'skipped').length,
});
