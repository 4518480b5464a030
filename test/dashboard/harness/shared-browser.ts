import type { Browser } from 'playwright-core';

import { launchChromium } from './chromium.js';

/** A Chromium that is started when it is first wanted, and again when it has ended. */
class SharedBrowser implements AsyncDisposable {
  #launched: Promise<Browser> | undefined;

  /** The running Chromium. What shares it uses browser contexts of its own. */
  async started(): Promise<Browser> {
    const earlier = await this.#launched;
    if (earlier?.isConnected() === true) return earlier;
    this.#launched = launchChromium();
    return this.#launched;
  }

  /** Ends it. */
  async [Symbol.asyncDispose](): Promise<void> {
    const launched = this.#launched;
    this.#launched = undefined;
    await (await launched)?.close();
  }
}

/** That of this process: the files of a worker share their modules. */
export const sharedBrowser = new SharedBrowser();
