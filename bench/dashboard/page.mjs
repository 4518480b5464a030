// Opens pages of the dashboard, and measures inside them.

/** A page of its own browser context, signed in by a link. */
export async function openPage(browser, daemon, route = '#/') {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  const { path } = await daemon.request('create_dashboard_link');
  await page.goto(daemon.url + path);
  await page.getByRole('navigation').first().waitFor();
  if (route !== '#/') await page.evaluate(`location.hash = ${JSON.stringify(route)}`);
  return page;
}

/** Counts the frames that the page draws, from now on; gives what ends the count. */
export async function countFrames(page) {
  await page.evaluate(`{
    globalThis.frames = 0;
    globalThis.isCounting = true;
    requestAnimationFrame(function next() { frames += 1; if (isCounting) requestAnimationFrame(next); });
  }`);
  return () => page.evaluate('isCounting = false; frames');
}

/** Milliseconds with one decimal. */
export const ms = (value) => `${value.toFixed(1)} ms`;
