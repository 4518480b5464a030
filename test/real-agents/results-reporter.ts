import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import type { Reporter, TestModule } from 'vitest/node';

import { machine } from '../support/machine/machine.js';
import { type Outcome, renderResults } from './results.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAGE = 'docs/develop/real-agents.md';
const MARKED = /(?<=<!-- results: begin -->\n)[^]*(?=<!-- results: end -->)/;

/** Writes the results of a complete run into `docs/develop/real-agents.md`: `REAL_AGENTS=record` does that. */
export default class ResultsReporter implements Reporter {
  readonly #startedAt = performance.now();

  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const outcomes = new Map<string, Outcome>(tests.map((test) => [test.fullName, test.result().state]));
    const results = renderResults(outcomes, {
      date: new Date().toISOString().slice(0, 10),
      machine: machine(),
      seconds: Math.round((performance.now() - this.#startedAt) / 1000),
    });
    const page = readFileSync(`${ROOT}${PAGE}`, 'utf8');
    if (!MARKED.test(page)) throw new Error(`${PAGE} has no place for the results`);
    writeFileSync(`${ROOT}${PAGE}`, page.replace(MARKED, `\n${results}\n\n`));
    execFileSync('npx', ['oxfmt', PAGE], { cwd: ROOT });
  }
}
