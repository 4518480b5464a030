import { appendFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import type { Reporter, TestCase } from 'vitest/node';

/** How much of an error is kept, in characters: what was expected and where, not a whole diff. */
const MAX_ERROR_LENGTH = 600;

/**
 * Appends each failed test, with its errors, to the file that TEST_FAILURES_FILE names: `scripts/test` shows them last. One that
 * passed when it was repeated is among them: it is to be mended too.
 */
export default class FailureReporter implements Reporter {
  onTestCaseResult(test: TestCase): void {
    const file = process.env['TEST_FAILURES_FILE'];
    const { state, errors = [] } = test.result();
    const isUnsteady = test.diagnostic()?.flaky === true;
    if (file === undefined || (state !== 'failed' && !isUnsteady)) return;
    const reasons = errors.map(({ message, stacks }) => {
      const place = stacks?.find((frame) => frame.file.includes('/test/'));
      const shown = stripVTControlCharacters(message).slice(0, MAX_ERROR_LENGTH);
      return `${shown}${place ? ` (line ${place.line})` : ''}`.replaceAll(/^/gm, '    ');
    });
    const title = `  ${isUnsteady ? 'passed when repeated: ' : ''}${test.module.relativeModuleId}: ${test.fullName}`;
    appendFileSync(file, `${title}\n${reasons.join('\n')}\n`);
  }
}
