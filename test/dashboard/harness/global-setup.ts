import { canRun, CHROMIUM } from './chromium.js';

/** Says once why the tests are skipped. */
export default function setup(): void {
  if (canRun) return;
  process.stderr.write(`the dashboard is not tested: there is no Chromium at ${CHROMIUM}; CHROMIUM names another\n`);
}
