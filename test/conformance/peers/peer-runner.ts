import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import type { TrapContext } from '../harness/context.js';
import { processesWith, remainingWith } from '../harness/leftovers.js';
import { run, type Step, type Trap } from '../harness/table.js';
import { within } from '../harness/within.js';
import { peerNamed } from './adapters.js';
import { folderOf } from './install.js';
import { judge } from './judge.js';
import { requireTrap, whyLeftOut } from './notions.js';
import { PeerContext } from './peer-context.js';
import { NotApplicable, type Peer, type PeerSession } from './peer.js';
import { RUNS } from './results.js';

/** Time for an answer beyond the command's own run time: twice that of our daemon, as only a hang may trip it. */
const ANSWER_MARGIN_MS = 8000;
/** Longest time for a new session, and for the end of one. */
const OPEN_MS = 20_000;
/** Longest time for a whole trap: below the runner's own limit, so that everything is put away in any case. */
const TRAP_MS = 60_000;

/** Declares the tests of one section at a peer: the same rows, as far as the peer has the notions. */
export function peerConformance(section: string, traps: readonly Trap[], name: string): void {
  const peer = peerNamed(name);
  describe(section, () => {
    let root = '';
    beforeAll(() => {
      root = mkdtempSync(join(tmpdir(), 'shell-adapter-peer-'));
    });
    afterAll(() => {
      rmSync(root, { recursive: true, force: true });
    });
    for (const trap of traps) {
      test(`${trap.id} ${trap.title}`, { repeats: RUNS - 1 }, async ({ task, skip }) => {
        try {
          const { steps, leftOut } = stepsFor(trap, peer);
          Object.assign(task.meta, { leftOut });
          await within(runTrap({ ...trap, steps }, peer, root), TRAP_MS, 'the trap');
        } catch (error) {
          if (error instanceof NotApplicable) skip(error.message);
          throw error;
        }
      });
    }
  });
}

function stepsFor(trap: Trap, { notions }: Peer): { readonly steps: Step[]; readonly leftOut: number } {
  requireTrap(trap, notions);
  const { steps = [] } = trap;
  const reasons = steps.map((step) => whyLeftOut(step, notions));
  const left = steps.filter((_, index) => reasons[index] === undefined);
  if (left.length === 0 && trap.run === undefined) throw new NotApplicable(reasons[0]);
  return { steps: left, leftOut: steps.length - left.length };
}

async function runTrap(trap: Trap, peer: Peer, root: string): Promise<void> {
  const context = new PeerContext(root, ANSWER_MARGIN_MS);
  const { directory, mark } = context;
  const place = { directory, env: { CONFORMANCE_ROW: mark }, installed: folderOf(peer) };
  try {
    const session = await within(peer.open(place), OPEN_MS, 'a new session');
    context.session = session;
    await runInSession(trap, context, session);
    expect(await remainingWith(mark), 'left running').toEqual([]);
  } finally {
    for (const line of processesWith(mark)) endProcess(Number.parseInt(line, 10));
  }
}

async function runInSession(trap: Trap, context: PeerContext, session: PeerSession): Promise<void> {
  const shared = context as unknown as TrapContext;
  try {
    for (const [index, step] of (trap.steps ?? []).entries()) await runStep(step, `step ${index + 1}`, context);
    await trap.run?.(shared);
    if (trap.isClosed === true) return;
    const word = `ok-${randomBytes(4).toString('hex')}`;
    await runStep(trap.probe?.(word) ?? run(`echo ${word}`, { stdout: `${word}\n` }), 'afterwards', context);
  } finally {
    await within(session.close(), OPEN_MS, 'the end of the session');
  }
}

async function runStep(step: Step, label: string, context: PeerContext): Promise<void> {
  const shared = context as unknown as TrapContext;
  const command = typeof step.command === 'function' ? step.command(shared) : step.command;
  const title = `${label}: ${command.slice(0, 100)}`;
  const { timeout_ms, stdin, tty, cwd, env, args } = step.options;
  const answered = context.runAtPeer(command, {
    isAlone: step.alone,
    timeoutMs: timeout_ms ?? undefined,
    stdin: stdin ?? undefined,
    isAttended: step.during !== undefined,
    isOnTerminal: tty === true,
    cwd: cwd ?? undefined,
    env: env ?? undefined,
    args: args ?? undefined,
  });
  const acted = step.during?.(shared) ?? Promise.resolve();
  const patienceMs = (step.expect.takesMs ?? 0) + context.marginMs;
  // What the client does while a command runs may take its time: peers do not tell when a program waits.
  const attendedMs = step.during === undefined ? 0 : 2 * context.marginMs;
  const [result] = await within(Promise.all([answered, acted]), patienceMs + attendedMs, title);
  judge(result, step, title);
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
