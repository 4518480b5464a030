import type { Page, Request } from 'playwright-core';

/** With this, Chromium ends all requests when the machine gets or loses a network interface, as other tests make it do. */
const NETWORK_CHANGED = 'ERR_NETWORK_CHANGED';

/** What Chromium opens in place of a page that it cannot open: after the failure was told, which can end the next attempt. */
const ERROR_PAGE = 'is interrupted by another navigation to "chrome-error:';

/** Most attempts to open a page. */
const MAX_ATTEMPTS = 10;

/** Whether a text is about a change of the network, which is no fault of the page. */
export const isNetworkChange = (text: string): boolean => text.includes(NETWORK_CHANGED);

/**
 * Opens an address, and again when the network has changed meanwhile; nothing else is tried again.
 * @param isOpen resolves when the page is complete
 */
export async function goTo(page: Page, address: string, isOpen: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    // What the address says about signing in counts once, and the page keeps it.
    const isThere = page.url().startsWith('http');
    if (await opens(page, () => (isThere ? page.reload() : page.goto(address)), isOpen)) return;
  }
  throw new Error(`the network has changed ${MAX_ATTEMPTS} times while ${address} was opened`);
}

/** False when the network has changed before the page was open. */
async function opens(page: Page, go: () => Promise<unknown>, isOpen: () => Promise<unknown>): Promise<boolean> {
  let onFailure: (request: Request) => void = () => undefined;
  const disturbed = new Promise<false>((resolve) => {
    onFailure = (request) => {
      if (isNetworkChange(request.failure()?.errorText ?? '')) resolve(false);
    };
  });
  page.on('requestfailed', onFailure);
  try {
    await go();
    return await Promise.race([isOpen().then(() => true), disturbed]);
  } catch (error) {
    if (isNetworkChange(String(error)) || String(error).includes(ERROR_PAGE)) return false;
    throw error;
  } finally {
    page.off('requestfailed', onFailure);
  }
}
