import { describe, expect, it } from 'vitest';

import {
  EVENTS,
  isInFlight,
  type SessionEvent,
  SessionLife,
  type SessionState,
  STATES,
  transition,
} from '../../../../src/engine/session/session-state.js';

type Type = keyof typeof EVENTS;

const RUN = { id: 'first' };
const eventOf = (type: Type): SessionEvent<typeof RUN> => ({ type, run: RUN, why: 'it hangs' });

const IDLE = { name: 'idle' } as const;
const REPLACING = { name: 'replacing', pending: 1 } as const;
const CLOSED = { name: 'closed' } as const;
const inFlight = (
  name: 'running' | 'ending' | 'settling',
  next: SessionState & { name: 'idle' | 'replacing' | 'closed' },
) => ({ name, run: RUN, next }) as SessionState<typeof RUN>;

/** The name of each state, and of what follows its command, after the events that change it. */
const ROWS: readonly (readonly [SessionState<typeof RUN>, Partial<Record<Type, string>>])[] = [
  [{ name: 'opening' }, { opened: 'idle' }],
  [IDLE, { started: 'running, idle', exited: 'replacing', reset: 'replacing', closed: 'closed' }],
  [
    inFlight('running', IDLE),
    {
      'taken back': 'idle',
      ended: 'ending, idle',
      lost: 'ending, idle',
      reported: 'settling, idle',
      exited: 'settling, replacing',
      reset: 'running, replacing',
      closed: 'running, closed',
    },
  ],
  [
    inFlight('running', REPLACING),
    {
      ended: 'ending, replacing',
      lost: 'ending, replacing',
      reported: 'settling, replacing',
      exited: 'settling, replacing',
      closed: 'running, closed',
    },
  ],
  [
    inFlight('ending', IDLE),
    {
      reported: 'settling, idle',
      exited: 'settling, replacing',
      reset: 'ending, replacing',
      closed: 'ending, closed',
    },
  ],
  [inFlight('ending', CLOSED), { reported: 'settling, closed', exited: 'settling, closed' }],
  [
    inFlight('settling', IDLE),
    { exited: 'settling, replacing', settled: 'idle', reset: 'settling, replacing', closed: 'settling, closed' },
  ],
  [inFlight('settling', REPLACING), { settled: 'replacing', closed: 'settling, closed' }],
  [inFlight('settling', CLOSED), { settled: 'closed' }],
  [REPLACING, { replaced: 'idle', 'not replaced': 'failed', closed: 'closed' }],
  [
    { name: 'replacing', pending: 2 },
    { 'not replaced': 'failed', closed: 'closed' },
  ],
  [{ name: 'failed' }, { closed: 'closed' }],
  [CLOSED, {}],
];

const shown = (state: SessionState): string => (isInFlight(state) ? `${state.name}, ${state.next.name}` : state.name);

describe('the states of a session', () => {
  it.each(ROWS.map(([state, changes]) => [JSON.stringify(state), state, changes] as const))(
    '%s',
    (_title, state, changes) => {
      const found = Object.keys(EVENTS).map((type) => [type, shown(transition(state, eventOf(type as Type)))]);
      const changed = found.filter(([, after]) => after !== shown(state));
      expect(Object.fromEntries(changed)).toEqual(changes);
    },
  );

  it('are all in the rows', () => {
    expect(new Set(ROWS.map(([{ name }]) => name))).toEqual(new Set(Object.keys(STATES)));
  });

  it('count resets', () => {
    const life = new SessionLife<typeof RUN>();
    const types: Type[] = ['opened', 'reset', 'reset', 'replaced'];
    for (const type of types) life.enter(eventOf(type));
    expect(life.state).toEqual(REPLACING);
    life.enter({ type: 'replaced' });
    expect(life.state).toEqual(IDLE);
  });

  it('keep the first reason for which a shell was given up, until it exits', () => {
    const life = new SessionLife<typeof RUN>();
    for (const type of ['opened', 'started', 'lost', 'reported', 'settled', 'started'] as const)
      life.enter(eventOf(type));
    life.enter({ type: 'lost', why: 'another reason' });
    expect(life.enter({ type: 'exited' })).toMatchObject({ name: 'ending', lost: 'it hangs' });
    expect(life.state).toMatchObject({ name: 'settling', lost: undefined, next: REPLACING });
  });

  it('tell whether a command is under way, and the session closed', () => {
    const life = new SessionLife<typeof RUN>();
    for (const type of ['opened', 'started', 'ended'] as const) life.enter(eventOf(type));
    expect([life.isUnderWay(RUN), life.isUnderWay({ id: 'second' }), life.isClosed]).toEqual([true, false, false]);
    for (const type of ['reported', 'closed'] as const) life.enter(eventOf(type));
    expect([life.isUnderWay(RUN), life.run, life.isClosed, life.isReplaceable]).toEqual([false, RUN, true, false]);
  });
});
