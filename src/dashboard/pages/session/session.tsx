import type { JSX } from 'preact';

import { Empty, Loading } from '../../components/states.js';
import type { PageProps } from '../../router/page.js';
import { useDashboard } from '../../state/context.js';
import { TerminalView } from './terminal/terminal-view.js';

/** One session. */
export function Session({ segments: [id = ''] }: PageProps): JSX.Element {
  const { live } = useDashboard();
  const sessions = live.sessions.value;
  const session = sessions?.get(id);
  if (!sessions) return <Loading what="the session" />;
  if (!session) return <Empty title="There is no such session">It may have ended.</Empty>;
  return (
    <>
      <h1>{session.label ?? id}</h1>
      <TerminalView session={session} />
    </>
  );
}
