import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';

import { Loading } from '../components/states.js';
import { useDashboard } from '../state/context.js';
import { ConnectionBanner } from './connection-banner.js';
import { Header } from './header.js';
import { KeyHelp } from './key-help.js';
import { LiveRegions } from './live-regions.js';
import { Navigation } from './navigation.js';
import { PageHost } from './page-host.js';
import { SignIn } from './sign-in.js';
import { useShortcuts } from './use-shortcuts.js';

/** The dashboard: the page for signing in, or the frame with a page in it. */
export function App(): JSX.Element {
  const { connection } = useDashboard();
  const status = connection.status.value;
  // It stays while a typed token is tried: a mistyped one can be corrected.
  if (status.kind === 'signed-out' || (status.kind === 'connecting' && status.isByHand === true)) {
    return <SignIn status={status} />;
  }
  if (status.kind === 'connecting') return <Connecting detail={status.detail} />;
  return <Frame />;
}

function Frame(): JSX.Element {
  const { connection, access } = useDashboard();
  const isHelpOpen = useShortcuts();
  const isLost = connection.status.value.kind === 'lost';
  useEffect(() => {
    document.body.classList.toggle('lost', isLost);
  }, [isLost]);
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById('main')?.focus();
        }}
      >
        Skip to content
      </a>
      <Header />
      <ConnectionBanner />
      <div class="columns">
        <Navigation />
        <main id="main" tabIndex={-1}>
          {access.info.value ? <PageHost /> : <Loading what="your access" />}
        </main>
      </div>
      <LiveRegions />
      {isHelpOpen.value ? (
        <KeyHelp
          onClose={() => {
            isHelpOpen.value = false;
          }}
        />
      ) : null}
    </>
  );
}

const Connecting = ({ detail }: { readonly detail: string | undefined }): JSX.Element => (
  <main class="centred">
    <h1>shell-adapter</h1>
    <Loading what="the dashboard" />
    {detail === undefined ? null : <p class="muted">{detail}</p>}
  </main>
);
