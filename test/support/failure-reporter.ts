import { appendFileSync } from 'node:fs';
import { basename } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { Reporter, SerializedError, TestCase, TestModule, TestSpecification, TestSuite } from 'vitest/node';

/** How much of an error is kept, in characters: what was expected and where, not a whole diff. */
const MAX_ERROR_LENGTH = 600;

/**
 * Shows how far a run has come. Appends each failed test, with its errors, to the file that TEST_FAILURES_FILE names: `scripts/test` shows them last. One that
 * passed when it was repeated is among them: it is to be mended too. So is what fails around tests: a file, what is done before and
 * after its tests, or an error that was not waited for. `scripts/test` runs the files of failed tests again.
 */
export default class FailureReporter implements Reporter {
  #files = 0;
  #ended = 0;

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#files = specifications.length;
  }

  onTestCaseResult(test: TestCase): void {
    const { state, errors = [] } = test.result();
    const isUnsteady = test.diagnostic()?.flaky === true;
    if (state === 'failed') noteFile(test.module);
    else if (!isUnsteady) return;
    append(`${isUnsteady ? 'passed when repeated: ' : ''}${test.module.relativeModuleId}: ${test.fullName}`, errors);
  }

  onTestSuiteResult(suite: TestSuite): void {
    if (suite.errors().length > 0) noteFile(suite.module);
    append(`${suite.module.relativeModuleId}: around the tests of ${suite.fullName}`, suite.errors());
  }

  onTestModuleEnd(module: TestModule): void {
    this.#ended += 1;
    // Every tenth: a run of a quarter of an hour shows how far it has come.
    if (this.#ended % 10 === 0) console.log(`   ${this.#ended} of ${this.#files} files`);
    if (module.errors().length > 0) noteFile(module);
    append(`${module.relativeModuleId}: the file`, module.errors());
  }

  onTestRunEnd(_modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    append('an error that no test has waited for', unhandled);
  }
}

/** Adds a file in which a test has failed to those that TEST_FAILED_FILES lists, one a line. */
function noteFile({ relativeModuleId }: TestModule): void {
  const list = process.env['TEST_FAILED_FILES'];
  if (list !== undefined) appendFileSync(list, `${relativeModuleId}\n`);
}

function append(title: string, errors: readonly SerializedError[]): void {
  const file = process.env['TEST_FAILURES_FILE'];
  if (file === undefined || errors.length === 0) return;
  const reasons = errors.map(({ message, stacks }) => {
    const place = stacks?.findLast((frame) => frame.file.includes('/test/'));
    const shown = stripVTControlCharacters(message)
      .replaceAll(/\n(?:\s*\n)+/g, '\n')
      .slice(0, MAX_ERROR_LENGTH)
      .trimEnd();
    return `${shown}${place ? ` (${basename(place.file)}, line ${place.line})` : ''}`.replaceAll(/^/gm, '    ');
  });
  appendFileSync(file, `  ${title}\n${reasons.join('\n')}\n`);
}
