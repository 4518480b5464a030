import { type ReadonlySignal, signal } from '@preact/signals';
import type { ComponentType } from 'preact';

import type { RequestName } from '../client/index.js';
import { hrefOf, parseRoute, type Route } from './route.js';

/** Names of the icons in `components/icon.tsx`. */
export type IconName =
  | 'overview'
  | 'session'
  | 'confirmations'
  | 'checkpoints'
  | 'audit'
  | 'tokens'
  | 'policy'
  | 'doctor'
  | 'nodes'
  | 'recordings'
  | 'search'
  | 'close'
  | 'copy'
  | 'sun'
  | 'moon'
  | 'warning'
  | 'download'
  | 'play'
  | 'stop'
  | 'keyboard'
  | 'signOut'
  | 'eye'
  | 'chevron';

/** What a page gets. */
export interface PageProps {
  /** The segments of the path after the name of the page. */
  readonly segments: readonly string[];
}

/** A page of the dashboard, as `pages/pages.ts` lists it. */
export interface Page {
  /** First segment of its path. */
  readonly name: string;
  readonly title: string;
  readonly icon: IconName;
  /** Key that opens it, after `g`; undefined for a page that is reached from others. */
  readonly key?: string;
  /** The page to which it belongs in the navigation, if it is not there itself. */
  readonly parent?: string;
  /** Whether it is of use in a cluster only: a daemon alone does not have it. */
  readonly isOfCluster?: true;
  /** The request without which the page is of no use: a role that may not make it is told which one could. */
  readonly needs?: RequestName;
  /** Loads its code. */
  readonly load: () => Promise<ComponentType<PageProps>>;
}

/** The current place, and how to go to another. */
export class Router implements Disposable {
  readonly #route = signal(parseRoute(location.hash));
  readonly #onChange = (): void => {
    this.#route.value = parseRoute(location.hash);
  };

  constructor() {
    addEventListener('hashchange', this.#onChange);
  }

  /** The current place. */
  get route(): ReadonlySignal<Route> {
    return this.#route;
  }

  /** Goes to a place, as a link does. */
  go(href: string): void {
    location.hash = href;
  }

  /** Changes filters of the current place, without a new entry in the history. An empty value removes a filter. */
  setQuery(changes: Route['query']): void {
    const { page, segments, query } = this.#route.peek();
    history.replaceState(null, '', hrefOf(page, segments, { ...query, ...changes }));
    this.#onChange();
  }

  [Symbol.dispose](): void {
    removeEventListener('hashchange', this.#onChange);
  }
}
