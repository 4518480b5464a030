import type { ReadonlySignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';

import { PageHead } from '../../components/page-head.js';
import { Empty, Loading } from '../../components/states.js';
import { hrefOf } from '../../router/route.js';
import type { PageProps } from '../../router/page.js';
import { useDashboard } from '../../state/context.js';
import { RunBar } from './controls/run-bar.js';
import { LimitsView } from './limits/limits-view.js';
import type { UsageRecord } from './limits/usage-record.js';
import { useUsage } from './limits/use-usage.js';
import { SessionHead, type SessionTab, TABS } from './session-head.js';
import { TerminalModel } from './terminal/terminal-model.js';
import { TerminalView } from './terminal/terminal-view.js';
import { Timeline } from './timeline/timeline.js';
import { useSession, type ViewedSession } from './use-session.js';

import './session.css';

/** One session: what it shows, what it has run, what it uses. */
export function Session({ segments: [id = ''] }: PageProps): JSX.Element {
  const { live } = useDashboard();
  const session = useSession(id);
  if (session) return <OpenedSession key={id} session={session} />;
  if (!live.sessions.value) return <Loading what="the session" />;
  return (
    <>
      <PageHead title="Session" />
      <Empty title="There is no such session">
        {live.ended.value.get(id) ?? 'It may have ended, or belong to others.'}{' '}
        <a href={hrefOf('overview')}>All sessions</a>
      </Empty>
    </>
  );
}

function OpenedSession({ session }: { readonly session: ViewedSession }): JSX.Element {
  const dashboard = useDashboard();
  const { view = 'terminal' } = dashboard.router.route.value.query;
  const { session_id: id } = session.info;
  const model = useMemo(() => new TerminalModel(dashboard, id), [id]);
  useEffect(() => () => model[Symbol.dispose](), [model]);
  const usage = useUsage(id, model);
  const tab = TABS.find(({ name }) => name === view)?.name ?? 'terminal';
  // Its code is loaded when it is first seen; it then goes on behind the other views.
  const wasSeen = useRef(false);
  wasSeen.current ||= tab === 'terminal';
  return (
    <>
      <SessionHead session={session} tab={tab} model={model} />
      <div role="tabpanel" class="tab" aria-label={tab} hidden={tab !== 'terminal'}>
        {wasSeen.current ? <TerminalView session={session} model={model} /> : null}
        <RunBar session={session} model={model} />
      </div>
      {tab === 'terminal' ? null : (
        <div role="tabpanel" class="tab" aria-label={tab}>
          <OtherView session={session} tab={tab} usage={usage} />
        </div>
      )}
    </>
  );
}

interface OtherViewProps {
  readonly session: ViewedSession;
  readonly tab: SessionTab;
  readonly usage: ReadonlySignal<UsageRecord>;
}

const OtherView = ({ session, tab, usage }: OtherViewProps): JSX.Element =>
  tab === 'timeline' ? <Timeline session={session} /> : <LimitsView session={session} usage={usage} />;
