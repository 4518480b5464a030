import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';

import { isRoot } from '../../support/root.js';

/** Directions, as seen from the namespace. */
type Direction = 'in' | 'out';

/** Runs a program; gives what it has printed on stderr, or undefined when it has succeeded. */
function failureOf(file: string, args: readonly string[], input?: string): string | undefined {
  const { status, stderr, error } = spawnSync(file, [...args], { input, encoding: 'utf8' });
  return status === 0 ? undefined : (error?.message ?? stderr);
}

function run(file: string, args: readonly string[], input?: string): void {
  const failure = failureOf(file, args, input);
  if (failure !== undefined) throw new Error(`${file} ${args.join(' ')}: ${failure}`);
}

/** Addresses of 198.18.0.0/15, which are for tests of networks (RFC 2544): a network of four for this machine and the other end. */
function newAddresses(): { readonly here: string; readonly there: string } {
  const [high = 0, middle = 0, low = 0] = randomBytes(3);
  const network = `198.${18 + (high % 2)}.${middle}`;
  const first = low & ~3;
  return { here: `${network}.${first + 1}`, there: `${network}.${first + 2}` };
}

const TABLE = `table inet faults {
  chain in { type filter hook input priority 0; }
  chain out { type filter hook output priority 0; }
}`;

/** A network namespace that is joined to this machine by one cable, which can fail. It needs root. */
export class TestNetwork implements Disposable {
  /** Address of this machine on the cable. */
  readonly here: string;
  /** Address of the namespace. */
  readonly there: string;
  /** Begins the command line of a program that runs in the namespace. */
  readonly launcher: readonly string[];
  readonly #name = `sa-${randomBytes(4).toString('hex')}`;

  constructor() {
    ({ here: this.here, there: this.there } = newAddresses());
    this.launcher = ['nsenter', `--net=/run/netns/${this.#name}`];
    process.once('exit', this.#remove);
    try {
      const [near, far] = [`${this.#name}-a`, `${this.#name}-b`];
      run('ip', ['netns', 'add', this.#name]);
      run('ip', ['link', 'add', near, 'type', 'veth', 'peer', 'name', far, 'netns', this.#name]);
      run('ip', ['address', 'add', `${this.here}/30`, 'dev', near]);
      run('ip', ['link', 'set', near, 'up']);
      run('ip', ['-n', this.#name, 'address', 'add', `${this.there}/30`, 'dev', far]);
      run('ip', ['-n', this.#name, 'link', 'set', far, 'up']);
      run('ip', ['-n', this.#name, 'link', 'set', 'lo', 'up']);
      this.#filter(TABLE);
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  /** Has packets in these directions vanish: neither end is told. */
  drop(...directions: readonly Direction[]): void {
    for (const direction of directions) this.#add(direction, 'drop');
  }

  /** Has some packets of each hundred vanish, in both directions. */
  lose(percent: number): void {
    for (const direction of ['in', 'out'] as const) this.#add(direction, `numgen random mod 100 < ${percent} drop`);
  }

  /** Has attempts to connect to the namespace vanish; what is connected already stays so. */
  dropConnecting(): void {
    this.#add('in', 'tcp flags & (syn | ack) == syn drop');
  }

  /** Has everything arrive again. */
  heal(): void {
    this.#filter('flush table inet faults');
  }

  [Symbol.dispose](): void {
    process.off('exit', this.#remove);
    this.#remove();
  }

  #add(direction: Direction, rule: string): void {
    const device = direction === 'in' ? 'iifname' : 'oifname';
    this.#filter(`add rule inet faults ${direction} ${device} != "lo" ${rule}`);
  }

  #filter(text: string): void {
    const [program = '', ...args] = this.launcher;
    run(program, [...args, 'nft', '-f', '-'], text);
  }

  /** The cable ends with the namespace. */
  readonly #remove = (): void => {
    failureOf('ip', ['netns', 'delete', this.#name]);
  };
}

/** Whether networks can be made: for root, where the kernel and the programs are there. */
export const canMakeNetworks = isRoot && canMakeOne();

function canMakeOne(): boolean {
  try {
    new TestNetwork()[Symbol.dispose]();
    return true;
  } catch (error) {
    process.stderr.write(`bad networks are not tested: ${(error as Error).message}\n`);
    return false;
  }
}
