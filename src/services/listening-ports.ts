import type { Principal } from '../core/principal.js';
import type { Answer, Request } from '../core/protocol/requests.js';
import type { Listening } from '../engine/platform/platform.js';
import { reportProcesses } from '../engine/process/background-processes.js';
import { findSessionProcesses } from '../engine/process/find-processes.js';
import { ProcessSnapshot } from '../engine/process/process-snapshot.js';
import type { SessionRecord, SessionRegistry } from './registry/session-registry.js';

type SessionPort = Answer<'list_ports'>['ports'][number];

/** Finds the ports on which the processes of sessions, and others, listen. */
export class Ports {
  readonly #sessions: SessionRegistry;
  readonly #listening: Listening;

  constructor(sessions: SessionRegistry, listening: Listening) {
    this.#sessions = sessions;
    this.#listening = listening;
  }

  /** Time between two looks of something that waits for a port, in milliseconds. */
  get lookMs(): number {
    return this.#listening.lookMs;
  }

  /**
   * Lists the ports of a session, or of all that a principal may see.
   * @throws AdapterError SESSION_NOT_FOUND, PORT_UNAVAILABLE
   */
  async list({ session_id: id }: Request<'list_ports'>, principal: Principal): Promise<Answer<'list_ports'>> {
    const sessions = id === undefined ? this.#sessions.seenBy(principal) : [this.#sessions.get(id, principal, 'see')];
    const [snapshot] = sessions.slice(0, 1).map(snapshotFor);
    if (!snapshot) return { ports: [] };
    const ports: SessionPort[] = [];
    for (const session of sessions) ports.push(...(await this.#portsIn(session, snapshot)));
    return { ports };
  }

  /**
   * Returns the ports on which processes of a session listen now.
   * @throws AdapterError PORT_UNAVAILABLE
   */
  ofSession(record: SessionRecord): Promise<readonly SessionPort[]> {
    return this.#portsIn(record, snapshotFor(record));
  }

  /** Whether the daemon itself listens on a port. */
  async isOwn(port: number): Promise<boolean> {
    return (await this.#listening.portsOf([process.pid])).some((own) => own.port === port);
  }

  /**
   * Whether a process of a session listens on a port.
   * @throws AdapterError PORT_UNAVAILABLE
   */
  async listensIn(record: SessionRecord, port: number): Promise<boolean> {
    // Whose socket it is takes a look at all processes.
    if (!(await this.#listening.isTaken(port, record.session.pid))) return false;
    return (await this.ofSession(record)).some((each) => each.port === port);
  }

  /**
   * Whether anything on the machine listens on a port.
   * @throws AdapterError PORT_UNAVAILABLE
   */
  listensHere(port: number): Promise<boolean> {
    return this.#listening.isTaken(port, process.pid);
  }

  async #portsIn(record: SessionRecord, snapshot: ProcessSnapshot): Promise<readonly SessionPort[]> {
    const { networkOf, portsOf } = this.#listening;
    const { shell } = record.session;
    const byPid = new Map(findSessionProcesses(shell, snapshot).map((entry) => [entry.pid, entry]));
    const own = networkOf(process.pid);
    const found = await portsOf([record.session.pid, ...byPid.keys()]);
    return found.map(({ pid, ...port }) => {
      const entry = byPid.get(pid);
      const [reported] = entry ? reportProcesses([entry], shell.processes, shell.root) : [];
      return {
        ...port,
        session_id: record.id,
        pid: reported?.pid ?? pid,
        command: reported?.command ?? record.shellName,
        on_machine: networkOf(pid) === own,
      };
    });
  }
}

const snapshotFor = ({ session }: SessionRecord) => new ProcessSnapshot(session.shell.processes);
