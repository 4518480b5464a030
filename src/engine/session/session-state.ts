/** What a session is while no command is in flight; also what follows the command in flight. */
type AtRest =
  | {
      readonly name: 'idle';
      /** Why its shell was given up; it has not exited yet. */
      readonly lost?: string | undefined;
    }
  | {
      readonly name: 'replacing';
      /** Replacements that are not complete: resets are queued. */
      readonly pending: number;
    }
  | { readonly name: 'failed' | 'closed' };

/** A command is in flight. */
interface InFlight<Run> {
  readonly name: 'running' | 'ending' | 'settling';
  readonly run: Run;
  /** The state after its result. */
  readonly next: AtRest;
  /** Why its shell was given up; its exit settles the command. */
  readonly lost?: string | undefined;
}

/** What a session is in each state. */
export const STATES = {
  opening: 'its first shell is being set up',
  idle: 'its shell waits for a command',
  running: 'a command runs in its shell',
  ending: 'the command is being ended',
  settling: 'the shell has reported or exited: the rest of the output is read, and what is left is searched for',
  replacing: 'another shell is started, and the processes of the last one are ended',
  failed: 'no other shell could be started: the session has to be closed',
  closed: 'it takes no commands, and its processes are ended',
} as const;

/** What changes the state of a session. */
export const EVENTS = {
  opened: 'the first shell is set up',
  started: 'a command was sent to the shell',
  'taken back': 'the shell had not begun the command when it exited: the command waits for the next shell',
  ended: 'the command is to end: a time-out, a signal, a limit, or the end of the session',
  lost: 'the shell does not recover, and was killed',
  reported: 'the driver has reported the end of the command',
  exited: 'the shell has exited',
  settled: 'the result of the command is final',
  reset: 'a client wants a fresh shell',
  replaced: 'another shell is in place',
  'not replaced': 'no other shell could be started',
  closed: 'the session is to end',
} as const;

/** The state of a session: one of `STATES`, with what belongs to it. */
export type SessionState<Run = unknown> = { readonly name: 'opening' } | AtRest | InFlight<Run>;

/** One of `EVENTS`. */
export type SessionEvent<Run = unknown> =
  | { readonly type: 'started'; readonly run: Run }
  | { readonly type: 'lost'; readonly why: string }
  | { readonly type: Exclude<keyof typeof EVENTS, 'started' | 'lost'> };

/** Whether a command is in flight. */
export const isInFlight = <Run>(state: SessionState<Run>): state is InFlight<Run> => 'run' in state;

/** The one function of transitions. Returns the same state where an event changes nothing. */
export function transition<Run>(state: SessionState<Run>, event: SessionEvent<Run>): SessionState<Run> {
  switch (state.name) {
    case 'opening':
      return event.type === 'opened' ? IDLE : state;
    case 'idle':
      return event.type === 'started'
        ? { name: 'running', run: event.run, next: IDLE, lost: state.lost }
        : atRest(state, event);
    case 'running':
    case 'ending':
    case 'settling':
      return inFlight(state, event);
    case 'replacing':
    case 'failed':
    case 'closed':
      return atRest(state, event);
  }
}

const IDLE: AtRest = { name: 'idle' };

function inFlight<Run>(state: InFlight<Run>, event: SessionEvent<Run>): SessionState<Run> {
  const { name, run, next, lost } = state;
  switch (event.type) {
    case 'ended':
      return { name: endingOf(name), run, next, lost };
    case 'lost':
      return { name: endingOf(name), run, next, lost: lost ?? event.why };
    case 'reported':
      return { name: 'settling', run, next, lost };
    case 'exited':
      return { name: 'settling', run, next: atRest(next, event), lost: undefined };
    case 'settled':
      return name === 'settling' ? afterResult(state) : state;
    case 'taken back':
      return mayGoBack(state) ? afterResult(state) : state;
    case 'reset':
    case 'closed':
      return { name, run, next: atRest(next, event), lost };
    default:
      return state;
  }
}

const endingOf = (name: InFlight<unknown>['name']): typeof name => (name === 'running' ? 'ending' : name);

/** A command that would run again in a closed or reset session ends instead. */
const mayGoBack = ({ name, next }: InFlight<unknown>): boolean => name === 'running' && next.name === 'idle';

const afterResult = ({ next, lost }: InFlight<unknown>): AtRest =>
  next.name === 'idle' && lost !== undefined ? { name: 'idle', lost } : next;

/** A replacement in progress notices the exit of its new shell at its end. */
function atRest(state: AtRest, { type }: SessionEvent): AtRest {
  if (type === 'closed') return { name: 'closed' };
  if (state.name === 'idle') return type === 'exited' || type === 'reset' ? { name: 'replacing', pending: 1 } : state;
  if (state.name !== 'replacing') return state;
  switch (type) {
    case 'reset':
      return { name: 'replacing', pending: state.pending + 1 };
    case 'replaced':
      return state.pending > 1 ? { name: 'replacing', pending: state.pending - 1 } : IDLE;
    case 'not replaced':
      return { name: 'failed' };
    default:
      return state;
  }
}

/** The state of one session, which its parts share. */
export class SessionLife<Run> {
  #state: SessionState<Run> = { name: 'opening' };

  /** Takes an event; returns the state before it. */
  enter(event: SessionEvent<Run>): SessionState<Run> {
    const before = this.#state;
    this.#state = transition(before, event);
    return before;
  }

  get state(): SessionState<Run> {
    return this.#state;
  }

  /** The command in flight. */
  get run(): Run | undefined {
    return isInFlight(this.#state) ? this.#state.run : undefined;
  }

  /** Whether a command is in flight, and its shell has neither reported its end nor exited. */
  isUnderWay(run: Run): boolean {
    const state = this.#state;
    return isInFlight(state) && state.run === run && state.name !== 'settling';
  }

  /** Whether the session takes no commands any more, though the last one may be in flight. */
  get isClosed(): boolean {
    return this.#following.name === 'closed';
  }

  /** Whether the exit of the shell begins its replacement. */
  get isReplaceable(): boolean {
    return this.#following.name === 'idle';
  }

  get #following(): SessionState<Run> {
    return isInFlight(this.#state) ? this.#state.next : this.#state;
  }
}
