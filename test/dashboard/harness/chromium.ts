import { existsSync } from 'node:fs';

import { type Browser, chromium } from 'playwright-core';

/** Path of Chromium: that of `CHROMIUM`, or the one of Debian. */
export const CHROMIUM = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/** False where Chromium is missing, and the tests need not run (`DASHBOARD_TESTS=required`). */
export const canRun = existsSync(CHROMIUM) || process.env['DASHBOARD_TESTS'] === 'required';

/** Switches without which Chromium asks servers of its vendor, or for a graphics card. */
const SWITCHES = [
  ...['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking'],
  ...['--disable-component-update', '--disable-sync', '--disable-dev-shm-usage'],
];

/**
 * Starts Chromium with a profile of its own, which is removed when it closes. Its sandbox cannot be used by root and in many
 * containers; the pages are the daemon's own.
 */
export function launchChromium(): Promise<Browser> {
  if (!existsSync(CHROMIUM)) throw new Error(`there is no Chromium at ${CHROMIUM}; set CHROMIUM, or install chromium`);
  return chromium.launch({ executablePath: CHROMIUM, args: SWITCHES, chromiumSandbox: false, timeout: 60_000 });
}
