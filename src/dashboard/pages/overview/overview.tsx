import type { JSX } from 'preact';

import { Panel } from '../../components/panel.js';
import { Empty, Loading } from '../../components/states.js';
import { useDashboard } from '../../state/context.js';

/** What runs on the machine, and how it is. */
export function Overview(): JSX.Element {
  const sessions = useDashboard().live.sessions.value;
  return (
    <>
      <h1>Overview</h1>
      <Panel title="Sessions">
        {sessions ? (
          <Empty title="No sessions">{`There are ${sessions.size}.`}</Empty>
        ) : (
          <Loading what="the sessions" />
        )}
      </Panel>
    </>
  );
}
