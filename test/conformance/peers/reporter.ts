import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';

import type { Reporter, TestCase, TestModule } from 'vitest/node';

import { machine } from '../../support/machine/machine.js';
import { peerNamed } from './adapters.js';
import { installCommand } from './install.js';
import { OURS, type Outcome, readResults, type Results, resultsFile, RUNS } from './results.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** Longest line of what was seen, in characters. */
const MAX_SEEN = 240;

/** Writes what came of each trap into `results/NAME.json`. A run of some traps only leaves the others as they are. */
export default class OutcomeReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const name = process.env['SHELL_ADAPTER_CONFORMANCE_PEER'] ?? OURS;
    const errors = modules.flatMap((module) => [...module.errors()]);
    if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('\n'));
    const tests = inOrder(modules).flatMap((module) => [...module.children.allTests()]);
    const isWhole = !tests.some(isFilteredOut) && modules.length === testFiles();
    const known = !isWhole && existsSync(resultsFile(name)) ? readResults(name) : undefined;
    const fresh = new Map(tests.flatMap((test) => (isFilteredOut(test) ? [] : [[rowOf(test).id, outcomeOf(test)]])));
    const traps = known ? (readResults(OURS).traps ?? []) : tests.map(rowOf);
    const outcomes = Object.fromEntries(
      traps.flatMap(({ id }) => {
        const outcome = fresh.get(id) ?? known?.outcomes[id];
        return outcome ? [[id, outcome]] : [];
      }),
    );
    const results: Results = {
      ...about(name),
      date: new Date().toISOString().slice(0, 10),
      machine: machine(),
      runs: RUNS,
      ...(name === OURS && { traps }),
      outcomes,
    };
    writeFileSync(resultsFile(name), JSON.stringify(results));
    execFileSync('npx', ['oxfmt', resultsFile(name)], { cwd: ROOT });
    process.stdout.write(`${name}: ${countsOf(Object.values(outcomes))}\n`);
  }
}

const testFiles = (): number =>
  readdirSync(`${ROOT}test/conformance`).filter((file) => file.endsWith('.test.ts')).length;

const inOrder = (modules: readonly TestModule[]): TestModule[] =>
  [...modules].sort((one, other) => (one.moduleId < other.moduleId ? -1 : 1));

/** By `-t`: then it was never started. */
const isFilteredOut = (test: TestCase): boolean => test.options.mode === 'skip' && test.diagnostic() === undefined;

function about(name: string): Pick<Results, 'name' | 'title' | 'version' | 'how' | 'install'> {
  if (name === OURS) {
    const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as { version: string };
    return { name, title: OURS, version, how: 'Socket.IO, with the shipped settings', install: 'npm ci' };
  }
  const peer = peerNamed(name);
  return { name, title: peer.title, version: peer.version, how: peer.how, install: installCommand(peer) };
}

function rowOf(test: TestCase): { readonly section: string; readonly id: string; readonly title: string } {
  const [, id = '', title = ''] = /^(\S+) (.*)$/s.exec(test.name) ?? [];
  return { section: test.parent.type === 'suite' ? test.parent.name : '', id, title };
}

function outcomeOf(test: TestCase): Outcome {
  const { state, errors = [] } = test.result();
  const { leftOut = 0 } = test.meta() as { leftOut?: number };
  const part = leftOut > 0 ? { left_out: leftOut } : {};
  if (state === 'skipped') return { outcome: 'not_applicable', seen: noteOf(test) };
  if (state === 'passed') return { outcome: 'passed', ...part };
  const seen = lineOf(errors[0]?.message ?? '');
  if (errors.length >= RUNS) return { outcome: 'failed', seen, ...part };
  return { outcome: 'unsteady', seen, passed_runs: RUNS - errors.length, ...part };
}

const noteOf = (test: TestCase): string => {
  const result = test.result();
  return result.state === 'skipped' ? (result.note ?? '') : '';
};

/** Without the digits by which a run's own processes are known: they differ each time. */
function lineOf(message: string): string {
  const text = stripVTControlCharacters(message)
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\b\d{12,13}\b/g, 'N')
    .replaceAll(/\bok-[0-9a-f]{8}\b/g, 'ok-X')
    .replaceAll(/\/tmp\/shell-adapter-peer-\w+/g, '/tmp/X');
  return `${text.startsWith('no answer within') ? 'hung: ' : ''}${text}`.slice(0, MAX_SEEN);
}

function countsOf(outcomes: readonly Outcome[]): string {
  const count = (wanted: Outcome['outcome']): number => outcomes.filter(({ outcome }) => outcome === wanted).length;
  return `${count('passed')} passed, ${count('failed')} failed, ${count('unsteady')} unsteady, ${count('not_applicable')} not applicable`;
}
