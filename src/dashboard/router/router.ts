import { type ReadonlySignal, signal } from '@preact/signals';

import { hrefOf, parseRoute, type Route } from './route.js';

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
