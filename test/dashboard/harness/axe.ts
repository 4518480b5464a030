import axe from 'axe-core';
import type { CDPSession } from 'playwright-core';

/** Rules of WCAG 2.2 A and AA, and what axe-core calls good practice. */
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** A rule that a page breaks, and where. */
export interface Violation {
  readonly id: string;
  readonly help: string;
  readonly elements: readonly string[];
}

/** Examines a page by axe-core. Its script comes by Chromium's protocol: the policy of the page stays in force. */
export async function findViolations(cdp: CDPSession): Promise<readonly Violation[]> {
  await evaluate(cdp, `${axe.source};0`);
  const run = `axe.run(document, { runOnly: ${JSON.stringify(RULES)}, resultTypes: ['violations'] }).then(({ violations }) =>
    violations.map(({ id, help, nodes }) => ({ id, help, elements: nodes.map(({ html, failureSummary }) => html + ' ' + failureSummary) })))`;
  return (await evaluate(cdp, run)) as readonly Violation[];
}

async function evaluate(cdp: CDPSession, expression: string): Promise<unknown> {
  const { result, exceptionDetails } = await cdp.send('Runtime.evaluate', {
    expression,
    awaitPromise: true,
    returnByValue: true,
  });
  if (exceptionDetails)
    throw new Error(`axe-core: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
  return result.value;
}
