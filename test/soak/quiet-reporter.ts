import { stripVTControlCharacters } from 'node:util';
import type { Reporter, SerializedError, TestCase } from 'vitest/node';

/** Prints errors alone, on stderr: the soak reports by itself. */
export default class QuietReporter implements Reporter {
  onTestCaseResult(test: TestCase): void {
    for (const { message } of test.result().errors ?? []) print(message);
  }

  onTestRunEnd(_modules: unknown, unhandled: readonly SerializedError[]): void {
    for (const { message } of unhandled) print(message);
  }
}

const print = (message: string) => process.stderr.write(`${stripVTControlCharacters(message)}\n`);
