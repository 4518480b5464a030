import type { JSX } from 'preact';

import { Badge, type Tone } from '../components/badge.js';
import { Button } from '../components/button.js';
import { Icon } from '../components/icon.js';
import { useDashboard } from '../state/context.js';
import type { ConnectionStatus } from '../state/connection.js';

const STATES: { readonly [K in ConnectionStatus['kind']]: readonly [text: string, tone: Tone] } = {
  connected: ['Connected', 'good'],
  lost: ['Reconnecting', 'bad'],
  connecting: ['Connecting', 'neutral'],
  'signed-out': ['Signed out', 'neutral'],
};

/** The line on top: connection, name and role, colours, signing out. */
export function Header(): JSX.Element {
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
