import './session.css';

import type { ReadonlySignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';

import { Badge } from '../../components/badge.js';
import { PageHead } from '../../components/panel.js';
import { Empty, Loading } from '../../components/states.js';
import { Ago } from '../../components/time.js';
import { type PageProps } from '../../router.js';
import { hrefOf } from '../../route.js';
import { useDashboard } from '../../state/context.js';
import { RunBar, StillRuns, StopActions, useStop } from './controls.js';
import { LimitsView, type UsageRecord, useUsage } from './limits-view.js';
import { TerminalModel } from './terminal/terminal-model.js';
import { TerminalView } from './terminal/terminal-view.js';
import { Timeline } from './timeline.js';
import { useSession, type ViewedSession } from './use-session.js';

/** The views of a session. */
const TABS = [
  { name: 'terminal', title: 'Terminal' },
  { name: 'timeline', title: 'Timeline' },
  { name: 'limits', title: 'Limits' },
] as const;

/** Name of a view. */
type SessionTab = (typeof TABS)[number]['name'];

interface HeadProps {
  readonly session: ViewedSession;
  readonly tab: SessionTab;
  readonly model: TerminalModel;
}

/** What a session is, how it is, what can be stopped, and its views. */
function SessionHead({ session, tab, model }: HeadProps): JSX.Element {
  const { info, ended } = session;
  const stop = useStop(session, model);
  return (
    <header class="session-head">
      <div class="session-title">
        <h1>{info.label ?? info.session_id}</h1>
        {ended === undefined ? (
          <Badge tone={info.state === 'busy' ? 'info' : 'neutral'}>{info.state}</Badge>
        ) : (
          <Badge tone="bad">ended</Badge>
        )}
        <span class="spacer" />
        <StopActions stop={stop} />
      </div>
      <StillRuns session={session} stop={stop} />
      <Facts session={session} />
      <Warnings session={session} />
      <nav class="tabs" aria-label="Views of the session">
        {TABS.map(({ name, title }) => (
          <a
            key={name}
            href={hrefOf('sessions', [info.session_id], { view: name })}
            aria-current={name === tab ? 'page' : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
    </header>
  );
}

function Facts({ session: { info } }: { readonly session: ViewedSession }): JSX.Element {
  const inCluster = useDashboard().access.inCluster && info.node !== undefined;
  return (
    <p class="session-facts muted">
      <span>{`${info.shell} of ${info.owner}${inCluster ? ` on ${info.node}` : ''}`}</span>
      <code>{info.working_directory}</code>
      <span>{`sandbox: ${info.sandbox}`}</span>
      <span>
        opened <Ago at={info.created_at} />
      </span>
      <span>
        expires <Ago at={info.expires_at} /> {`(${info.expires_reason})`}
      </span>
      <span>{`watched by ${info.observers}`}</span>
      {info.recording_id === null ? null : <a href={hrefOf('recordings', [info.recording_id])}>Recording</a>}
    </p>
  );
}

/** Why it has ended, and states in which the next commands will fail. */
function Warnings({ session: { info, ended } }: { readonly session: ViewedSession }): JSX.Element {
  return (
    <>
      {ended === undefined ? null : <p class="notice bad" role="status">{`This session has ended: ${ended}`}</p>}
      {info.warnings.map(({ code, message, since }) => (
        <p key={code} class="notice warn">
          <strong>{code}</strong> {message} <Ago at={since} />
        </p>
      ))}
    </>
  );
}

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
