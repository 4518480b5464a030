import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import { Badge, type Tone } from '../components/badge.js';
import { Button } from '../components/button.js';
import { Icon } from '../components/icon.js';
import { Loading } from '../components/states.js';
import { formatClock } from '../format.js';
import { pages, pagesFor } from '../pages/pages.js';
import { type Page } from '../router.js';
import { hrefOf } from '../route.js';
import type { ConnectionStatus } from '../state/connection.js';
import { useDashboard } from '../state/context.js';
import { KeyHelp, useShortcuts } from './shortcuts.js';
import { PageHost } from './page-host.js';
import { SignIn } from './sign-in.js';

/** Says that what is shown is not up to date, or what a restart of the daemon has ended. */
function ConnectionBanner(): JSX.Element | null {
  const { connection, restarted } = useDashboard();
  const status = connection.status.value;
  if (status.kind === 'lost') {
    return (
      <p class="banner bad" role="alert">
        <strong>Connection lost.</strong>
        {` Trying to reconnect. What you see was true at ${formatClock(status.since)}.`}
      </p>
    );
  }
  if (restarted.value === '') return null;
  const dismiss = () => {
    restarted.value = '';
  };
  return (
    <p class="banner warn" role="status">
      {restarted.value}
      <span class="spacer" />
      <Button tone="quiet" label="Dismiss" onPress={dismiss}>
        <Icon name="close" />
      </Button>
    </p>
  );
}

const STATES: { readonly [K in ConnectionStatus['kind']]: readonly [text: string, tone: Tone] } = {
  connected: ['Connected', 'good'],
  lost: ['Reconnecting', 'bad'],
  connecting: ['Connecting', 'neutral'],
  'signed-out': ['Signed out', 'neutral'],
};

/** The line on top: connection, name and role, colours, signing out. */
function Header(): JSX.Element {
  const { connection, access } = useDashboard();
  const [text, tone] = STATES[connection.status.value.kind];
  const info = access.info.value;
  return (
    <header class="top">
      <a class="brand" href="#/overview" aria-label="shell-adapter, overview">
        <Icon name="session" />
        <span>shell-adapter</span>
      </a>
      <Badge tone={tone}>{text}</Badge>
      <span class="spacer" />
      {info ? (
        <span class="who" title={`You are ${info.name}, with the role ${info.role}`}>
          <span class="name">{info.name}</span>
          <Badge>{info.role}</Badge>
        </span>
      ) : null}
      <ThemeButton />
      <Button tone="quiet" label="Sign out" onPress={() => void connection.signOut()}>
        <Icon name="signOut" />
      </Button>
    </header>
  );
}

function ThemeButton(): JSX.Element {
  const { theme } = useDashboard();
  const { isDark } = theme;
  return (
    <Button
      tone="quiet"
      label={isDark ? 'Light colours' : 'Dark colours'}
      onPress={() => {
        theme.toggle();
      }}
    >
      <Icon name={isDark ? 'sun' : 'moon'} />
    </Button>
  );
}

/** Texts for screen readers alone. */
function LiveRegions(): JSX.Element {
  const { notices } = useDashboard();
  return (
    <div class="hidden">
      <div aria-live="polite">{notices.polite.value}</div>
      <div aria-live="assertive">{notices.assertive.value}</div>
    </div>
  );
}

/** The pages. Those that the role may not use stay: they say which role could. */
function Navigation(): JSX.Element {
  const { router, access } = useDashboard();
  const { page } = router.route.value;
  const current = pages.find(({ name }) => name === page);
  const element = useRef<HTMLElement>(null);
  useEffect(() => {
    if (element.current) showCurrent(element.current);
  }, [page]);
  return (
    <nav ref={element} class="pages" aria-label="Pages">
      <ul>
        {pagesFor(access.inCluster)
          .filter(({ parent }) => parent === undefined)
          .map((entry) => (
            <Entry key={entry.name} page={entry} isCurrent={entry.name === (current?.parent ?? page)} />
          ))}
      </ul>
    </nav>
  );
}

/** Where there is little room, the pages are a row that scrolls. `scrollIntoView` would change where Tab begins. */
function showCurrent(nav: HTMLElement): void {
  const link = nav.querySelector<HTMLElement>('[aria-current]');
  if (link) nav.scrollLeft = link.offsetLeft - (nav.clientWidth - link.offsetWidth) / 2;
}

function Entry({ page, isCurrent }: { readonly page: Page; readonly isCurrent: boolean }): JSX.Element {
  const { access, live } = useDashboard();
  const isOff = page.needs !== undefined && access.whyNot(page.needs) !== undefined;
  const waiting = page.name === 'confirmations' ? (live.confirmations.value?.size ?? 0) : 0;
  return (
    <li>
      <a
        href={hrefOf(page.name)}
        class={isOff ? 'off' : undefined}
        aria-current={isCurrent ? 'page' : undefined}
        title={page.key === undefined ? page.title : `${page.title} (g ${page.key})`}
      >
        <Icon name={page.icon} />
        <span>{page.title}</span>
        {waiting > 0 ? <span class="count alert">{waiting}</span> : null}
      </a>
    </li>
  );
}

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
