import { isLoopbackAddress } from '../../core/ip-address.js';
import { Slices } from '../system/promises.js';
import { listPids, namespaceOf } from './linux/process-table.js';
import { socketsOf } from './linux/sockets.js';
import type { PeerLook, PeerSocket, TcpEnds } from './platform.js';

/** A question that has no answer yet. */
interface Waiting<Question, Answer> {
  readonly question: Question;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Answers questions together: one look answers all that wait when it begins. What is asked during a look waits for the
 * next one, so no answer is older than its question.
 */
export class BatchedLook<Question, Answer> {
  readonly #look: (questions: readonly Question[]) => Promise<readonly Answer[]>;
  #waiting: Waiting<Question, Answer>[] = [];
  #isLooking = false;

  /** @param look gives one answer for each question, in their order; runs once at a time */
  constructor(look: (questions: readonly Question[]) => Promise<readonly Answer[]>) {
    this.#look = look;
  }

  /** Answers a question; rejects with what the look is rejected with. */
  ask(question: Question): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ question, resolve, reject });
      if (!this.#isLooking) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#isLooking = true;
    while (this.#waiting.length > 0) {
      const asked = this.#waiting;
      this.#waiting = [];
      await this.#answer(asked);
    }
    this.#isLooking = false;
  }

  async #answer(asked: readonly Waiting<Question, Answer>[]): Promise<void> {
    try {
      const answers = await this.#look(asked.map(({ question }) => question));
      for (const [index, { resolve }] of asked.entries()) resolve(answers[index] as Answer);
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  }
}

/** A TCP connection from the perspective of the server. Undefined where the socket is closed. */
export interface Peer {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
}

/** Uid of users without a mapping in this user namespace (user_namespaces(7)). */
const OVERFLOW_UID = 65_534;

/** Finds the peers' sockets of loopback connections to this process. */
export class PeerSockets {
  readonly #maxLooks: number;
  /** A look sees all connections of the machine, so one serves all peers that wait. */
  readonly #looks: BatchedLook<TcpEnds, PeerSocket | undefined>;

  constructor({ maxLooks, findAll }: PeerLook) {
    this.#maxLooks = maxLooks;
    this.#looks = new BatchedLook(findAll);
  }

  /**
   * Returns the peer's socket. Undefined where that is unknown: another machine, a connection that has ended, a user
   * without a mapping here.
   */
  async find({ remoteAddress, remotePort, localAddress, localPort }: Peer): Promise<PeerSocket | undefined> {
    if (remoteAddress === undefined || localAddress === undefined) return undefined;
    if (remotePort === undefined || localPort === undefined || !isLoopbackAddress(remoteAddress)) return undefined;
    const ends = { remoteAddress, remotePort, localAddress, localPort };
    let socket = await this.#looks.ask(ends);
    for (let look = 1; !socket && look < this.#maxLooks; look += 1) socket = await this.#looks.ask(ends);
    return socket?.owner === OVERFLOW_UID ? undefined : socket;
  }
}

/** Tells which sockets are held by processes of the daemon's own PID namespace, and thus of no sandbox. */
export class PidNamespaceSockets {
  /** A look examines the descriptors of all processes, so one serves all sockets that wait. */
  readonly #looks = new BatchedLook(areInOwnPidNamespace);

  /**
   * Whether a process that holds a socket is in the daemon's own PID namespace. False when no process is found: a socket
   * that is being passed from one process to another has no holder.
   */
  holds(inode: number): Promise<boolean> {
    return this.#looks.ask(inode);
  }
}

async function areInOwnPidNamespace(inodes: readonly number[]): Promise<readonly boolean[]> {
  const home = namespaceOf('self', 'pid');
  const undecided = new Set(inodes);
  const inside = new Set<number>();
  const slices = new Slices();
  for (const pid of listPids()) {
    if (undecided.size === 0) break;
    if (slices.isOver) await slices.next();
    const open = socketsOf(pid).filter((inode) => undecided.has(inode));
    const isInside = open.length > 0 && home !== undefined && namespaceOf(pid, 'pid') === home;
    for (const inode of open) {
      undecided.delete(inode);
      if (isInside) inside.add(inode);
    }
  }
  return inodes.map((inode) => inside.has(inode));
}
