import { afterEach, describe, expect, it, vi } from 'vitest';

import type { SignalName } from '../../../../src/core/signals.js';
import { signalForeground } from '../../../../src/engine/command/foreground.js';
import type { ProcessEntry, Processes } from '../../../../src/engine/platform/platform.js';
import { plainRoot } from '../../../../src/engine/process/find-processes.js';
import { Turns } from '../../../../src/engine/system/promises.js';

const SHELL = 100;
const CHILD = 200;
/** Number of looks at a fork after which it execs: a loaded machine has it wait. */
const LOOKS = 3;

/** A child of a shell, which handles signals as the shell does until it execs, if it does. */
class FakeChild {
  readonly received: string[] = [];
  readonly #becomes: 'program' | 'subshell';
  #shellState = 'S';
  #looks = 0;
  #exitSignal = 0;

  constructor(becomes: 'program' | 'subshell') {
    this.#becomes = becomes;
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
    ] as ProcessEntry[];
  };

  readonly #isFork = (): boolean => {
    if (this.received.length > 0) this.#looks += 1;
    return !this.#hasExeced && !(this.#becomes === 'subshell' && this.#looks > LOOKS);
  };

  get #hasExeced(): boolean {
    return this.#becomes === 'program' && this.#looks > LOOKS;
  }

  /** The processes of the machine. */
  readonly processes = {
    readNow: (pid: number) => this.#entries().find((entry) => entry.pid === pid),
    childrenOf: (pid: number) => this.#entries().filter(({ parent }) => parent === pid),
    commandLine: ({ pid }: Pick<ProcessEntry, 'pid'>) => (pid === CHILD && this.#hasExeced ? 'sleep 30' : 'bash'),
    isAlive: () => this.#exitSignal === 0,
    isEnding: () => this.#exitSignal > 0,
    isBeforeExec: () => false,
    isWaitingCopy: () => false,
    isFork: this.#isFork,
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

describe('a signal to a fork of the shell that is too old to be taken for one about to exec', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('is sent again when the fork execs after it', async () => {
    const child = new FakeChild('program');
    expect(await signalTo(child, 'SIGTERM')).toEqual([{ pid: CHILD, command: 'sleep 30' }]);
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
