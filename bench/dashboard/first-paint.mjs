import { createServer } from 'node:http';

import { summarize } from '../measure.mjs';
import { ms } from './page.mjs';

/** Milliseconds from the navigation to the first paint of content, with an empty cache. */
async function paintOf(browser, url) {
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    await page.goto(url);
    return await page.evaluate(`new Promise((resolve) => {
      new PerformanceObserver((list) => {
        const paint = list.getEntriesByName('first-contentful-paint')[0];
        if (paint) resolve(paint.startTime);
      }).observe({ type: 'paint', buffered: true });
    })`);
  } finally {
    await context.close();
  }
}

/** The floor is a page of one word. */
export const firstPaint = {
  name: 'first paint',
  async run({ daemon, browser, short }) {
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html').end('<!doctype html><title>floor</title><p>floor');
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    const times = { floor: [], ours: [] };
    for (let run = 0; run < (short ? 2 : 12); run++) {
      times.floor.push(await paintOf(browser, `http://127.0.0.1:${server.address().port}/`));
      times.ours.push(await paintOf(browser, `${daemon.url}/`));
    }
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    const [floor, ours] = [summarize(times.floor), summarize(times.ours)];
    return [
      { what: 'p50', floor: ms(floor.p50), ours: ms(ours.p50), target: '400 ms' },
      { what: 'longest', floor: ms(floor.max), ours: ms(ours.max), target: '400 ms' },
    ];
  },
};
