import axe from 'axe-core';
import type { CDPSession } from 'playwright-core';

/** Rules of WCAG 2.2 A and AA, and what axe-core calls good practice. */
const ALL = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** The rules of them whose result depends on colours. */
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];

/** A rule that a page breaks, and where. */
export interface Violation {
  readonly id: string;
  readonly help: string;
  readonly elements: readonly string[];
}

/**
 * Examines a page by axe-core. Its script comes by Chromium's protocol: the policy of the page stays in force.
 *
 * @param rules `colours`: those alone that can change with the colour scheme, in a third of the time
 */
export async function findViolations(cdp: CDPSession, rules: 'all' | 'colours' = 'all'): Promise<readonly Violation[]> {
  if ((await evaluate(cdp, 'typeof axe')) === 'undefined') await evaluate(cdp, `${axe.source};0`);
  const runOnly = rules === 'all' ? ALL : { type: 'rule', values: OF_COLOURS };
  const options = { runOnly, resultTypes: ['violations'], iframes: false, selectors: false };
  const run = `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
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
