import { useRef } from 'preact/hooks';

import type { RequestName, SessionInfo } from '../../../client/index.js';
import type { Use } from '../../state/connection.js';
import { useDashboard } from '../../state/context.js';

const LOST = 'The connection is lost. What you have typed stays.';

/** A session that is looked at, open or ended. */
export interface ViewedSession {
  readonly info: SessionInfo;
  /** Why it has ended; undefined while it is open. */
  readonly ended: string | undefined;
  /** Whether the connection is lost: what is asked for now would reach the session later, in another state. */
  readonly isLost: boolean;
  /** Why a request about it would be refused; undefined when it is allowed. */
  readonly whyNot: (request: RequestName, use: Use) => string | undefined;
}

/** Finds a session. One that ends while it is looked at stays as it was last. Undefined for one that is not known. */
export function useSession(id: string): ViewedSession | undefined {
  const { live, access, connection } = useDashboard();
  const last = useRef<SessionInfo | undefined>(undefined);
  const open = live.sessions.value?.get(id);
  if (open) last.current = open;
  const info = last.current?.session_id === id ? last.current : undefined;
  if (!info) return undefined;
  const ended = open ? undefined : (live.ended.value.get(id) ?? 'The daemon no longer has it.');
  const isLost = connection.status.value.kind === 'lost';
  const state = ended === undefined ? (isLost ? LOST : undefined) : 'The session has ended.';
  return { info, ended, isLost, whyNot: (request, use) => state ?? access.whyNotOf(request, info.owner, use) };
}
