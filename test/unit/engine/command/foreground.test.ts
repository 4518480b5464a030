import { afterEach, describe, expect, it, vi } from 'vitest';

import type { SignalName } from '../../../../src/core/signals.js';
import { signalForeground } from '../../../../src/engine/command/foreground.js';
import type { ProcessEntry, Processes } from '../../../../src/engine/platform/platform.js';
import { plainRoot } from '../../../../src/engine/process/find-processes.js';
import { Turns } from '../../../../src/engine/system/promises.js';

const SHELL = 100;
const CHILD = 200;
const GRANDCHILD = 201;
/** Number of looks at a fork after which it execs: a loaded machine has it wait. */
const LOOKS = 3;
/** How far the clock is at each look at it, in milliseconds, where a machine is slow, and so many looks that they take seconds. */
const CLOCK_STEP_MS = 100;
const SECONDS_OF_LOOKS = 30;

/** A child of a shell, which handles signals as the shell does until it execs, if it does. */
class FakeChild {
  readonly received: string[] = [];
  readonly #becomes: 'program' | 'subshell';
  #shellState = 'S';
  readonly #looksBefore: number;
  /** Whether it is a shell itself, whose child execs. */
  readonly #isNested: boolean;
  #looks = 0;
  #exitSignal = 0;

  constructor(becomes: 'program' | 'subshell', looksBefore = LOOKS, isNested = false) {
    this.#becomes = becomes;
    this.#isNested = isNested;
    this.#looksBefore = looksBefore;
  }

  /** Stands for kill(2). */
  readonly kill = (pid: number, signal: string | number = 0): true => {
    if (pid === SHELL) this.#shellState = signal === 'SIGSTOP' ? 'T' : 'S';
    else {
      this.received.push(`${String(pid)} ${String(signal)}`);
      if (this.#hasExeced) this.#exitSignal = 15;
    }
    return true;
  };

  readonly #entries = (): readonly ProcessEntry[] => {
    const common = { parent: 1, session: SHELL, foregroundGroup: CHILD, startTicks: 1, cpuTicks: 0 };
    const state = this.#exitSignal > 0 ? 'Z' : 'R';
    return [
      { ...common, pid: SHELL, group: SHELL, state: this.#shellState },
      { ...common, pid: CHILD, group: CHILD, parent: SHELL, state },
      ...(this.#isNested ? [{ ...common, pid: GRANDCHILD, group: CHILD, parent: CHILD, state }] : []),
    ] as ProcessEntry[];
  };

  readonly #mayExec = ({ pid }: ProcessEntry): boolean => {
    if (pid !== this.#starter) return false;
    if (this.received.length > 0) this.#looks += 1;
    return !this.#hasExeced && !(this.#becomes === 'subshell' && this.#looks > this.#looksBefore);
  };

  get #starter(): number {
    return this.#isNested ? GRANDCHILD : CHILD;
  }

  get #hasExeced(): boolean {
    return this.#becomes === 'program' && this.#looks > this.#looksBefore;
  }

  /** The processes of the machine. */
  readonly processes = {
    readNow: (pid: number) => this.#entries().find((entry) => entry.pid === pid),
    list: () => this.#entries(),
    childrenOf: (pid: number) => this.#entries().filter(({ parent }) => parent === pid),
    commandLine: ({ pid }: Pick<ProcessEntry, 'pid'>) =>
      pid === this.#starter && this.#hasExeced ? 'sleep 30' : pid === SHELL || !this.#isNested ? 'bash' : 'sh -c …',
    isAlive: () => this.#exitSignal === 0,
    isEnding: () => this.#exitSignal > 0,
    isBeforeExec: () => false,
    isWaitingCopy: () => false,
    mayExec: this.#mayExec,
    handlesSignal: () => !this.#hasExeced,
    exitSignal: () => this.#exitSignal,
  } as unknown as Processes;
}

const signalTo = (child: FakeChild, signal: SignalName) => {
  vi.spyOn(process, 'kill').mockImplementation(child.kill);
  const root = plainRoot(SHELL);
  const state = { hasDriver: true, holdsRequests: false, mayStartMore: false };
  return signalForeground({
    shell: { pid: SHELL, root, processes: child.processes, stops: new Turns(), ...state },
    signal,
    mayInterruptShell: () => true,
    onSend: () => undefined,
    isOver: () => false,
  });
};

describe('a signal to a process that may be about to exec', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('is sent again when the fork execs after it', async () => {
    const child = new FakeChild('program');
    expect(await signalTo(child, 'SIGTERM')).toEqual([{ pid: CHILD, command: 'sleep 30' }]);
    expect(child.received).toEqual([`-${String(CHILD)} SIGTERM`, `-${String(CHILD)} SIGTERM`]);
  });

  it('is sent again also when the machine lets the fork exec seconds later', async () => {
    const child = new FakeChild('program', SECONDS_OF_LOOKS);
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => (now += CLOCK_STEP_MS));
    await signalTo(child, 'SIGTERM');
    expect(child.received).toEqual([`-${String(CHILD)} SIGTERM`, `-${String(CHILD)} SIGTERM`]);
  });

  it('is sent again when it is a fork of a program, which is a shell', async () => {
    const child = new FakeChild('program', LOOKS, true);
    expect(await signalTo(child, 'SIGTERM')).toEqual([{ pid: CHILD, command: 'sh -c …' }]);
    expect(child.received).toEqual([`-${String(CHILD)} SIGTERM`, `-${String(CHILD)} SIGTERM`]);
  });

  it('is sent once when the fork is a subshell, which handles it', async () => {
    const child = new FakeChild('subshell');
    expect(await signalTo(child, 'SIGTERM')).toEqual([{ pid: CHILD, command: 'bash' }]);
    expect(child.received).toEqual([`-${String(CHILD)} SIGTERM`]);
  });

  it('is sent once when it does not end programs', async () => {
    const child = new FakeChild('program');
    await signalTo(child, 'SIGUSR1');
    expect(child.received).toEqual([`-${String(CHILD)} SIGUSR1`]);
  });
});
