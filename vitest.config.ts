import { defineConfig } from 'vitest/config';

/** Real shells on a shared machine: generous bounds, so that only a hang trips them. */
const PROCESS_TEST_TIMEOUT_MS = 150_000;
/**
 * On machines of others, which are slow at times, a test of processes that has failed is repeated once; what then passes is
 * listed at the end of the run. Elsewhere it has failed.
 */
const REPEATS = process.env['CI'] === undefined ? 0 : 1;
/** With FAIL_FIRST_ATTEMPTS each test is failed once, which shows those that fail when they are repeated. */
const REPEATED =
  process.env['FAIL_FIRST_ATTEMPTS'] === undefined
    ? { retry: REPEATS }
    : { retry: 1, setupFiles: ['test/support/fail-first-attempts.ts'] };
/** A given number of inputs is a test like others; a search for faults is not repeated. */
const FUZZ_REPEATS = process.env['FUZZ_INPUTS'] === undefined ? 0 : REPEATS;
/** Tests of processes wait half of the time: a third worker uses what two leave of two cores, unless other projects run beside it. */
const PROCESS_TEST_WORKERS = Number(process.env['TEST_WORKERS'] ?? 3);
/** Beside other work, on a machine that is slow at times. */
const UNIT_TEST_TIMEOUT_MS = 30_000;
/** All scripts of a shell: seconds, on a machine that does nothing else. */
const CORPUS_TEST_TIMEOUT_MS = 600_000;
/** A page that installs and builds the project. */
const PAGE_TEST_TIMEOUT_MS = 600_000;
/**
 * Node.js 20 reads the certificates of this variable at each start, which takes more of a processor than the rest of a start: 40 ms, for more
 * than a thousand processes. The tests trust only certificates of their own, and those set it themselves.
 */
const NO_EXTRA_CERTIFICATES = { env: { NODE_EXTRA_CA_CERTS: '' } };
/** What is waited for comes within a second on an idle machine: vitest's own bound fails on a busy one. */
const PATIENT = { expect: { poll: { timeout: 30_000 } } };
/** The files of a worker share their modules, which takes a fifth less of the time of a processor. */
const WITH_PROCESSES = { isolate: false, ...PATIENT, ...NO_EXTRA_CERTIFICATES };
/** Pure functions: the files share their modules, which are loaded once for each worker. Threads start and report faster than processes. */
const PURE = { isolate: false, pool: 'threads', testTimeout: UNIT_TEST_TIMEOUT_MS } as const;
/** Lists of thousands of commands, random input, schemas of other standards: not at each save of a file. */
const LONG_UNIT_TESTS = 'test/unit/**/*.long.test.ts';
/** One file after the other. */
const ALONE = { maxWorkers: 1, sequence: { groupOrder: 6 }, ...PATIENT, ...NO_EXTRA_CERTIFICATES };
/** A tool of some hundred megabytes from npm. */
const REAL_CLI_INSTALL_TIMEOUT_MS = 660_000;

export default defineConfig({
  test: {
    // Modules that have not changed since the last run, of any project, are not compiled again: a third of the unit tests' time.
    experimental: { fsModuleCache: true },
    reporters: [
      'default',
      './test/support/failure-reporter.ts',
      ...(process.env['REAL_AGENTS'] === 'record' ? ['./test/real-agents/results-reporter.ts'] : []),
    ],
    projects: [
      { test: { name: 'unit', ...PURE, include: ['test/unit/**/*.test.ts'], exclude: [LONG_UNIT_TESTS] } },
      { test: { name: 'unit-long', ...PURE, include: [LONG_UNIT_TESTS] } },
      {
        test: {
          name: 'integration',
          ...WITH_PROCESSES,
          include: ['test/integration/**/*.test.ts', 'test/contract/**/*.test.ts'],
          sequence: { groupOrder: 1 },
          testTimeout: PROCESS_TEST_TIMEOUT_MS,
          hookTimeout: PROCESS_TEST_TIMEOUT_MS,
          ...REPEATED,
          maxWorkers: PROCESS_TEST_WORKERS,
        },
      },
      {
        test: {
          name: 'e2e',
          ...WITH_PROCESSES,
          include: ['test/e2e/**/*.test.ts'],
          sequence: { groupOrder: 2 },
          testTimeout: PROCESS_TEST_TIMEOUT_MS,
          hookTimeout: PROCESS_TEST_TIMEOUT_MS,
          ...REPEATED,
          // They wait most of the time, for daemons.
          maxWorkers: PROCESS_TEST_WORKERS + 1,
        },
      },
      // Real daemons that are killed and frozen, and their ends waited for.
      {
        test: {
          name: 'cluster',
          ...WITH_PROCESSES,
          include: ['test/cluster/**/*.test.ts'],
          sequence: { groupOrder: 8 },
          testTimeout: PROCESS_TEST_TIMEOUT_MS,
          hookTimeout: PROCESS_TEST_TIMEOUT_MS,
          ...REPEATED,
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'conformance',
          ...WITH_PROCESSES,
          include: ['test/conformance/*.test.ts'],
          globalSetup: ['test/conformance/peers/global-setup.ts'],
          sequence: { groupOrder: 3 },
          testTimeout: PROCESS_TEST_TIMEOUT_MS,
          hookTimeout: PROCESS_TEST_TIMEOUT_MS,
          ...REPEATED,
          maxWorkers: PROCESS_TEST_WORKERS,
        },
      },
      {
        test: {
          name: 'same-as-shell',
          ...WITH_PROCESSES,
          include: ['test/same-as-shell/*.test.ts'],
          sequence: { groupOrder: 3 },
          testTimeout: CORPUS_TEST_TIMEOUT_MS,
          hookTimeout: PROCESS_TEST_TIMEOUT_MS,
          ...REPEATED,
          maxWorkers: PROCESS_TEST_WORKERS,
        },
      },
      {
        test: {
          name: 'security',
          ...WITH_PROCESSES,
          include: ['test/conformance/security/*.test.ts'],
          testTimeout: PROCESS_TEST_TIMEOUT_MS,
          hookTimeout: PROCESS_TEST_TIMEOUT_MS,
          ...ALONE,
        },
      },
      // Each worker has a Chromium of its own.
      {
        test: {
          name: 'dashboard',
          ...WITH_PROCESSES,
          include: ['test/dashboard/**/*.test.ts'],
          globalSetup: ['test/dashboard/harness/global-setup.ts'],
          sequence: { groupOrder: 7 },
          testTimeout: PROCESS_TEST_TIMEOUT_MS,
          hookTimeout: PROCESS_TEST_TIMEOUT_MS,
          ...REPEATED,
          maxWorkers: 2,
        },
      },
      // As long as they are asked to: scripts/fuzz.mjs and scripts/soak.mjs say how long.
      ...(process.env['FUZZ_SECONDS'] === undefined
        ? []
        : [{ test: { name: 'fuzz', include: ['test/fuzz/**/*.test.ts'], retry: FUZZ_REPEATS, ...ALONE } }]),
      ...(process.env['SOAK_MINUTES'] === undefined
        ? []
        : [{ test: { name: 'soak', include: ['test/soak/*.test.ts'], ...ALONE } }]),
      // Alone: they listen on the default port, and install packages.
      {
        test: {
          name: 'pages',
          include: ['test/pages/**/*.test.ts'],
          sequence: { groupOrder: 4 },
          testTimeout: PAGE_TEST_TIMEOUT_MS,
          hookTimeout: PAGE_TEST_TIMEOUT_MS,
          maxWorkers: 1,
        },
      },
      // Hundreds of megabytes from npm: only when it is asked for.
      ...(process.env['REAL_CLIS'] === undefined
        ? []
        : [
            {
              test: {
                name: 'real-clis',
                include: ['test/real-clis/**/*.test.ts'],
                sequence: { groupOrder: 5 },
                testTimeout: PROCESS_TEST_TIMEOUT_MS,
                hookTimeout: REAL_CLI_INSTALL_TIMEOUT_MS,
                maxWorkers: 1,
              },
            },
          ]),
      // The same packages, as programs that use the daemon.
      ...(process.env['REAL_AGENTS'] === undefined
        ? []
        : [
            {
              test: {
                name: 'real-agents',
                include: ['test/real-agents/**/*.test.ts'],
                sequence: { groupOrder: 5 },
                testTimeout: PROCESS_TEST_TIMEOUT_MS,
                hookTimeout: REAL_CLI_INSTALL_TIMEOUT_MS,
                // They wait most of the time.
                maxWorkers: 3,
              },
            },
          ]),
    ],
  },
});
