import type { JSX } from 'preact';

import { Badge } from '../../components/badge.js';
import { Ago } from '../../components/time.js';
import { hrefOf } from '../../router/route.js';
import { useDashboard } from '../../state/context.js';
import { StillRuns } from './controls/still-runs.js';
import { StopActions } from './controls/stop-actions.js';
import { useStop } from './controls/use-stop.js';
import type { TerminalModel } from './terminal/terminal-model.js';
import type { ViewedSession } from './use-session.js';

/** The views of a session. */
export const TABS = [
  { name: 'terminal', title: 'Terminal' },
  { name: 'timeline', title: 'Timeline' },
  { name: 'limits', title: 'Limits' },
] as const;

/** Name of a view. */
export type SessionTab = (typeof TABS)[number]['name'];

interface HeadProps {
  readonly session: ViewedSession;
  readonly tab: SessionTab;
  readonly model: TerminalModel;
}

/** What a session is, how it is, what can be stopped, and its views. */
export function SessionHead({ session, tab, model }: HeadProps): JSX.Element {
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
