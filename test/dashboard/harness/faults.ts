import type { BrowserContext, Page } from 'playwright-core';

import { isNetworkChange } from './network-changes.js';

/** Reports what the policy blocks as an error of the console: Chromium does not print all of it. */
const REPORT_VIOLATIONS = `addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sourceFile, lineNumber }) => {
  console.error('securitypolicyviolation', violatedDirective, blockedURI, sourceFile + ':' + lineNumber);
});`;

/** Schemes of what a page makes itself. */
const OWN_SCHEMES = /^(?:data|blob|about):/;

/**
 * Watches the pages of a browser context for what must never happen: an error of the console or a script, a violation of the
 * content security policy, a request to another origin.
 */
export class Faults {
  readonly #found: string[] = [];
  readonly #expected: RegExp[] = [];
  readonly #url: URL;

  constructor(url: string) {
    this.#url = new URL(url);
  }

  /** Begins to watch; to be called before a page is opened. */
  async watch(context: BrowserContext): Promise<void> {
    await context.addInitScript(REPORT_VIOLATIONS);
    context.on('console', (message) => {
      if (message.type() === 'error') this.#found.push(`console: ${message.text()} (${message.location().url})`);
    });
    context.on('weberror', (error) => this.#found.push(`script: ${error.error().stack ?? String(error.error())}`));
    context.on('request', (request) => {
      this.#check(request.url());
    });
    context.on('page', (page) => {
      this.#watchSockets(page);
    });
  }

  /** Expects faults whose texts match: they are part of what is tested, such as the answer 401 to a wrong token. */
  expect(pattern: RegExp): void {
    this.#expected.push(pattern);
  }

  /** What was found and not expected. */
  get unexpected(): readonly string[] {
    const isExpected = (fault: string) => this.#expected.some((pattern) => pattern.test(fault));
    return this.#found.filter((fault) => !isNetworkChange(fault) && !isExpected(fault));
  }

  #watchSockets(page: Page): void {
    page.on('websocket', (socket) => {
      this.#check(socket.url());
    });
  }

  #check(address: string): void {
    if (OWN_SCHEMES.test(address) || new URL(address).host === this.#url.host) return;
    this.#found.push(`a request to another origin: ${address}`);
  }
}
