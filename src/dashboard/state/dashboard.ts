import { signal, type Signal } from '@preact/signals';

import { Router } from '../router.js';
import { Attention } from './attention.js';
import { Access, DaemonConnection } from './connection.js';
import { LiveData } from './live.js';

const TICK_MS = 1000;

/** The time, a tick a second, for all texts that say how long ago something was. */
class Clock {
  /** Milliseconds since the epoch, by this browser. */
  readonly now = signal(Date.now());

  constructor() {
    setInterval(() => {
      // Nothing is seen of a page in the background.
      if (!document.hidden) this.now.value = Date.now();
    }, TICK_MS);
  }
}

/** Most texts that are kept: those of sessions and confirmations that have ended stay until then. */
const MAX_DRAFTS = 200;

/**
 * What was typed into the pages and not sent yet. It outlives the pages, a lost connection and an ended token; it is kept in memory
 * alone, and forgotten when its user signs out or another one signs in.
 */
class Drafts {
  readonly #texts = new Map<string, Signal<string>>();
  #owner: string | undefined;

  /** The text of a field, by a key that names the field and what it is about. */
  of(key: string): Signal<string> {
    const text = this.#texts.get(key) ?? signal('');
    this.#texts.delete(key);
    this.#texts.set(key, text);
    for (const oldest of this.#texts.keys()) {
      if (this.#texts.size <= MAX_DRAFTS) break;
      this.#texts.delete(oldest);
    }
    return text;
  }

  /** Forgets what another one has typed. */
  belongTo(name: string): void {
    if (this.#owner !== undefined && this.#owner !== name) this.clear();
    this.#owner = name;
  }

  /** Forgets all texts. */
  clear(): void {
    this.#texts.clear();
    this.#owner = undefined;
  }
}

/** Least time between two polite notices, in milliseconds: a screen reader reads each of them to its end. */
const POLITE_INTERVAL_MS = 5000;

/** What is said to screen readers. */
export class Notices {
  /** Read when the reader is idle. */
  readonly polite = signal('');
  /** Read at once. */
  readonly assertive = signal('');
  #lastAt = -Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Says something at once, such as a new confirmation. */
  interrupt(text: string): void {
    this.assertive.value = text;
  }

  /** Says something when the reader is idle. The newest notice waits until the last one was long enough ago. */
  say(text: string): void {
    clearTimeout(this.#timer);
    const waitMs = this.#lastAt + POLITE_INTERVAL_MS - performance.now();
    if (waitMs > 0) this.#timer = setTimeout(() => this.#say(text), waitMs);
    else this.#say(text);
  }

  #say(text: string): void {
    this.#lastAt = performance.now();
    this.polite.value = text;
  }
}

const STORAGE_KEY = 'theme';

/** Colours: those of the system, or chosen here. */
type ThemeChoice = 'system' | 'light' | 'dark';

const CHOICES: readonly ThemeChoice[] = ['system', 'light', 'dark'];

/** The colours of the page. */
class Theme {
  readonly choice = signal<ThemeChoice>(stored());
  readonly #system = matchMedia('(prefers-color-scheme: dark)');
  readonly #isSystemDark = signal(this.#system.matches);

  constructor() {
    this.#system.addEventListener('change', ({ matches }) => {
      this.#isSystemDark.value = matches;
    });
    this.#apply();
  }

  /** Whether the page is dark now. */
  get isDark(): boolean {
    const choice = this.choice.value;
    return choice === 'system' ? this.#isSystemDark.value : choice === 'dark';
  }

  /** Switches between light and dark. */
  toggle(): void {
    this.choice.value = this.isDark ? 'light' : 'dark';
    localStorage.setItem(STORAGE_KEY, this.choice.value);
    this.#apply();
  }

  #apply(): void {
    const choice = this.choice.peek();
    document.documentElement.style.colorScheme = choice === 'system' ? '' : choice;
  }
}

function stored(): ThemeChoice {
  const found = localStorage.getItem(STORAGE_KEY);
  return CHOICES.find((choice) => choice === found) ?? 'system';
}

/** What a restart has ended. */
const RESTARTED = 'The daemon was restarted: the sessions and commands of its earlier run are gone.';

/** The state of the page: one of each, for all components. */
export class Dashboard {
  readonly router = new Router();
  readonly theme = new Theme();
  readonly clock = new Clock();
  readonly notices = new Notices();
  readonly access = new Access();
  readonly drafts = new Drafts();
  readonly live = new LiveData();
  readonly attention = new Attention(this);
  readonly connection: DaemonConnection;
  /** What a restart of the daemon has ended, for people; empty without one. */
  readonly restarted: Signal<string> = signal('');

  constructor() {
    this.connection = new DaemonConnection({
      onClient: async (client) => {
        const info = await client.request('describe_access', {});
        this.access.info.value = info;
        this.drafts.belongTo(info.name);
        await this.live.begin(client);
      },
      onRestored: async (isRestarted) => {
        this.restarted.value = isRestarted ? RESTARTED : '';
        this.notices.say(isRestarted ? RESTARTED : 'Connected again.');
        this.access.info.value = await this.connection.request('describe_access', {});
        await this.live.refresh();
      },
      onLost: () => {
        this.notices.say('The connection was lost.');
      },
      onSignedOut: (isWanted) => {
        if (isWanted) this.drafts.clear();
        this.access.info.value = undefined;
        this.live.clear();
      },
    });
  }
}

/**
 * Removes the service workers of this origin: another program that had the port before may have left one, which could
 * then change this page. Returns whether there was one; the page is then loaded again.
 */
export async function unregisterServiceWorkers(): Promise<boolean> {
  // Browsers offer them in secure contexts alone: HTTPS, or this machine.
  if (!('serviceWorker' in navigator)) return false;
  const found = await navigator.serviceWorker.getRegistrations();
  if (found.length === 0) return false;
  await Promise.all(found.map((registration) => registration.unregister()));
  location.reload();
  return true;
}
