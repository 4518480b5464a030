import type { Principal } from '../../core/access/principal.js';
import type { Answer, Request } from '../../core/protocol/requests.js';
import { listeningSockets, networkOf, portsOf } from '../../engine/network/listening-ports.js';
import { findSessionProcesses } from '../../engine/process/find-processes.js';
import { ProcessSurvey } from '../../engine/process/process-survey.js';
import { reportProcesses } from '../../engine/process/reported-process.js';
import type { SessionRecord, SessionRegistry } from '../registry/session-registry.js';

type SessionPort = Answer<'list_ports'>['ports'][number];

/** Finds the ports on which the processes of sessions listen. */
export class Ports {
  readonly #sessions: Pick<SessionRegistry, 'get' | 'seenBy'>;

  constructor(sessions: Pick<SessionRegistry, 'get' | 'seenBy'>) {
    this.#sessions = sessions;
  }

  /**
   * Lists the ports of a session, or of all that a principal may see.
   * @throws AdapterError SESSION_NOT_FOUND
   */
  list({ session_id: id }: Request<'list_ports'>, principal: Principal): Answer<'list_ports'> {
    const sessions = id === undefined ? this.#sessions.seenBy(principal) : [this.#sessions.get(id, principal, 'see')];
    const own = networkOf(process.pid);
    const [survey] = sessions.slice(0, 1).map(surveyFor);
    return { ports: survey ? sessions.flatMap((session) => portsIn(session, survey, own)) : [] };
  }
}

const surveyFor = ({ session }: SessionRecord) => new ProcessSurvey(session.shell.processes);

/** The ports of one session. */
function portsIn(record: SessionRecord, survey: ProcessSurvey, own: string | undefined): readonly SessionPort[] {
  const { shell } = record.session;
  const processes = findSessionProcesses(shell, survey);
  const byPid = new Map(processes.map((entry) => [entry.pid, entry]));
  const shellPid = record.session.pid;
  return portsOf([shellPid, ...byPid.keys()]).map(({ pid, ...port }) => {
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

/** The ports on which processes of a session listen now. */
export const portsOfSession = (record: SessionRecord): readonly SessionPort[] =>
  portsIn(record, surveyFor(record), networkOf(process.pid));

/** The ports on which the daemon itself listens. */
export const ownPorts = (): readonly number[] => portsOf([process.pid]).map(({ port }) => port);

/** Whether a process of a session listens on a port. */
export const listensIn = (record: SessionRecord, port: number): boolean => {
  // A look at the table is cheap; whose socket it is takes a look at all processes.
  if (!listeningSockets(record.session.pid).some((socket) => socket.port === port)) return false;
  return portsIn(record, surveyFor(record), undefined).some((each) => each.port === port);
};

/** Whether anything on the machine listens on a port. */
export const listensHere = (port: number): boolean => listeningSockets('self').some((socket) => socket.port === port);
