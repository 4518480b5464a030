import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { RequestInput } from '../../../src/core/protocol/requests.js';
import { type DaemonOptions, TestDaemon } from '../../support/daemon.js';
import { PROCESS_HANG_MS } from '../../support/hang.js';
import { eventually } from '../../support/measure.js';
import { WireClient } from '../../support/wire.js';
import { TrapContext } from './context.js';
import { killWith, remainingWith, zombiesOf } from './leftovers.js';
import { OURS, readResults, RUNS } from '../peers/results.js';
import { exceptionsIn, IS_THROUGH_GATEWAY, PLATFORM, unsteadyIn } from './exceptions.js';
import { startGatewayBench } from './gateway-bench.js';
import { checkAnswer } from './verdict.js';
import { run, type Step, type Trap } from './table.js';
import { within } from './within.js';

/** Address of a daemon that runs already; by default each file starts its own. */
const URL = process.env['SHELL_ADAPTER_CONFORMANCE_URL'];
/** Shell of the rows that ask for none; by default the daemon's. */
const SHELL = process.env['SHELL_ADAPTER_CONFORMANCE_SHELL'];

/** Another system at which the rows are run instead. */
const PEER = process.env['SHELL_ADAPTER_CONFORMANCE_PEER'];
const peers = PEER === undefined || PEER === OURS ? undefined : await import('../peers/peer-runner.js');
/** For the table of results each row is run several times. */
const REPEATS = PEER === undefined ? 0 : RUNS - 1;

/** The same where an answer is not expected, until a known fault is mended. */
const FAULT_MARGIN_MS = 500;
/** Characters of a result, whatever the daemon's configuration says. */
const OUTPUT_SIZE = 200_000;

/** What the rows of a file share. */
interface Bench {
  /** The one that runs the sessions. */
  readonly daemon: TestDaemon | undefined;
  readonly url: string;
  readonly client: WireClient;
  /** Ends what was started for it. */
  readonly end: () => Promise<void>;
  /** A session that no row touches: it must never notice any. */
  readonly witness: string;
  readonly root: string;
}

/** Declares the tests of one section: a row each, all on one daemon unless a row wants one of its own. */
export function conformance(section: string, traps: readonly Trap[], options?: DaemonOptions): void {
  if (peers) {
    peers.peerConformance(section, traps, PEER ?? '');
    return;
  }
  describe(section, () => {
    let bench: Bench;
    beforeAll(async () => {
      bench = await setUpBench(options);
    });
    afterAll(async () => {
      await tearDownBench(bench);
    });
    if (PEER === undefined) expectResults(section, traps);
    for (const trap of onThisPlatform(section, traps)) {
      const why = whySkipped(section, trap);
      const fault = trap.knownFault === undefined ? '' : ` (known fault: ${trap.knownFault})`;
      test(
        `${trap.id} ${trap.title}${why === undefined ? '' : ` (${why})`}${fault}`,
        { skip: why !== undefined, repeats: REPEATS, ...(fault !== '' && { fails: true, retry: 0 }) },
        async () => {
          if (trap.daemon === undefined) return runTrap(trap, bench);
          const own = await setUpBench(trap.daemon);
          try {
            await runTrap(trap, own);
          } finally {
            await tearDownBench(own);
          }
        },
      );
    }
  });
}

/** Why a row is not run; undefined when it is. */
function whySkipped(section: string, { id, daemon, isLocal }: Trap): string | undefined {
  if ((daemon !== undefined || isLocal === true) && URL !== undefined) return 'needs a daemon of its own';
  return unsteadyIn(section)[id];
}

/** The rows with the faults that are known on the platform of this run. */
function onThisPlatform(section: string, traps: readonly Trap[]): readonly Trap[] {
  const exceptions = exceptionsIn(section);
  const unknown = Object.keys({ ...exceptions, ...unsteadyIn(section) }).filter(
    (id) => !traps.some((trap) => trap.id === id),
  );
  if (unknown.length > 0) throw new Error(`exceptions without a row: ${unknown.join(', ')}`);
  return traps.map((trap) => {
    const fault = exceptions[trap.id] ?? trap.knownFault;
    return fault === undefined ? trap : { ...trap, knownFault: fault };
  });
}

/** The options of a daemon on the platform of this run. */
function withPlatform(options: DaemonOptions = {}): DaemonOptions {
  if (PLATFORM === undefined) return options;
  const { settings } = options;
  return { ...options, settings: { ...settings, adapter: { ...settings?.adapter, platform: PLATFORM } } };
}

/** Declares the test that the table of other systems' results has these rows. */
function expectResults(section: string, traps: readonly Trap[]): void {
  test('the results at other systems have a row for each trap: npm run conformance -- --peers -t ID', () => {
    const rows = (readResults(OURS).traps ?? []).filter((row) => row.section === section);
    expect(rows.map(({ id }) => id)).toEqual(traps.map(({ id }) => id));
  });
}

/** What the rows are run on. */
async function startFor(options: DaemonOptions): Promise<Pick<Bench, 'daemon' | 'url' | 'end'>> {
  if (URL !== undefined) return { daemon: undefined, url: URL, end: () => Promise.resolve() };
  if (IS_THROUGH_GATEWAY) {
    const gateway = await startGatewayBench(options);
    return { daemon: gateway.worker, url: gateway.url, end: async () => gateway[Symbol.asyncDispose]() };
  }
  const daemon = await TestDaemon.start(options);
  return { daemon, url: daemon.url, end: () => daemon[Symbol.asyncDispose]() };
}

async function setUpBench(options: DaemonOptions | undefined): Promise<Bench> {
  const { daemon, url, end } = await startFor(withPlatform(options));
  const client = await WireClient.connect(url);
  // In the workspace: a sandbox has a /tmp of its own.
  const made = await client.run('mktemp -d traps-XXXXXX');
  if (made.error) throw new Error(made.error.message);
  const { workspace_directory: workspace } = await client.request('shell_metadata', {});
  return { daemon, url, end, client, witness: await client.openSession(), root: `${workspace}/${made.stdout.trim()}` };
}

async function tearDownBench({ daemon, client, witness, root, end }: Bench): Promise<void> {
  await client.request('close_session', { session_id: witness });
  await client.run(`rm -rf ${root}`);
  await client[Symbol.asyncDispose]();
  if (!daemon) return;
  try {
    // A process that has just ended is one until the daemon's next turn.
    await eventually(() => {
      expect(zombiesOf(daemon.pid), 'zombie children of the daemon').toEqual([]);
    });
  } finally {
    await end();
  }
}

async function runTrap(trap: Trap, bench: Bench): Promise<void> {
  await using client = await WireClient.connect(bench.url);
  const marginMs = trap.knownFault === undefined ? PROCESS_HANG_MS : FAULT_MARGIN_MS;
  const context = new TrapContext(client, bench, marginMs);
  await makeDirectory(context.directory, bench);
  context.sessionId = await client.openSession(sessionOptions(trap, context));
  try {
    for (const [index, step] of (trap.steps ?? []).entries()) await runStep(step, `step ${index + 1}`, context);
    await trap.run?.(context);
    if (trap.isClosed !== true) await checkSession(trap, context);
    await checkWitness(bench);
    await within(client.request('close_session', { session_id: context.sessionId }), PROCESS_HANG_MS, 'close_session');
    expect(await remainingWith(context.mark), 'left running').toEqual([]);
  } finally {
    await within(client.request('close_session', { session_id: context.sessionId }), PROCESS_HANG_MS, 'close_session');
    // What a known fault leaves must not outlive the tests.
    killWith(context.mark);
  }
}

/** Makes the directory of a row: by a command only where the daemon may be on another machine. */
async function makeDirectory(directory: string, { daemon, client }: Bench): Promise<void> {
  if (daemon) mkdirSync(directory, { recursive: true });
  else await client.run(`mkdir -p ${directory}`);
}

function sessionOptions(trap: Trap, context: TrapContext): RequestInput<'open_session'> {
  const { env, ...others } = trap.session ?? {};
  return {
    cwd: context.directory,
    ...(SHELL !== undefined && { shell: SHELL }),
    ...others,
    env: { ...env, CONFORMANCE_ROW: context.mark },
  };
}

async function runStep(step: Step, label: string, context: TrapContext): Promise<void> {
  const command = typeof step.command === 'function' ? step.command(context) : step.command;
  const patienceMs = (step.expect.takesMs ?? 0) + context.marginMs;
  const title = `${label}: ${command.slice(0, 300)}`;
  const answered = context.client.request('execute_command', {
    command,
    session_id: step.alone ? undefined : context.sessionId,
    command_id: context.newCommandId(),
    output: { max_size: OUTPUT_SIZE },
    ...(step.alone && { env: { CONFORMANCE_ROW: context.mark } }),
    ...step.options,
  });
  const acted = step.during?.(context) ?? Promise.resolve();
  // Without an answer, what the client did is no longer waited for.
  acted.catch(() => undefined);
  const answer = await within(answered, patienceMs, title);
  await within(acted, context.marginMs, `${title} (the client's part)`);
  await checkAnswer(answer, step, title, context);
}

/** The session answers exactly, behind as many shells as it should, with nothing left in it. */
async function checkSession(trap: Trap, context: TrapContext): Promise<void> {
  const word = `ok-${randomBytes(4).toString('hex')}`;
  await runStep(trap.probe?.(word) ?? run(`echo ${word}`, { stdout: `${word}\n` }), 'the session afterwards', context);
  const session = await context.client.request('get_session', { session_id: context.sessionId });
  const { state, restarts, queued_commands } = session;
  expect({ state, restarts, queued_commands }, 'the session afterwards').toEqual({
    state: 'idle',
    restarts: trap.restarts ?? 0,
    queued_commands: 0,
  });
}

async function checkWitness({ client, witness }: Bench): Promise<void> {
  const { stdout, stderr, exit_code, session_state } = await client.run('echo "$-" untouched', witness);
  expect({ stdout, stderr, exit_code, session_state }, 'another session').toEqual({
    stdout: expect.stringMatching(/^\w+ untouched\n$/) as string,
    stderr: '',
    exit_code: 0,
    session_state: 'alive',
  });
}
