import { summarize, timeEach } from '../measure.mjs';
import { countFrames, ms, openPage } from './page.mjs';

const MB = 1_000_000;

/** The floor is the same command in a session that no page shows; for the frames, a page that shows nothing new. */
export const watchedFlood = {
  name: 'watched flood',
  async run({ daemon, browser, short }) {
    const { session_id } = await daemon.request('open_session');
    const command = `yes 'a line of the flood' | head -c ${(short ? 20 : 200) * MB}`;
    const flood = () => daemon.request('execute_command', { session_id, command });
    await flood();
    const unwatched = summarize(await timeEach(short ? 1 : 5, flood));
    const page = await openPage(browser, daemon, `#/sessions/${session_id}`);
    await page.locator('.xterm-rows').waitFor();
    await flood();
    const ends = await countFrames(page);
    const start = performance.now();
    const watched = summarize(await timeEach(short ? 1 : 5, flood));
    const frames = (await ends()) / ((performance.now() - start) / 1000);
    const endsIdle = await countFrames(page);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const idleFrames = await endsIdle();
    const endless = daemon.request('execute_command', { session_id, command: 'yes' });
    const stop = page.locator('button[aria-disabled=false]', { hasText: 'Ctrl-C' });
    await stop.waitFor();
    const pressed = performance.now();
    await stop.click();
    await endless;
    const stopped = performance.now() - pressed;
    await page.context().close();
    const rounded = (value) => `${Math.round(value)} frames/s`;
    return [
      { what: 'the command', floor: ms(unwatched.p50), ours: ms(watched.p50), target: '2 x' },
      { what: 'the page', floor: rounded(idleFrames), ours: rounded(frames), target: '40 frames/s' },
      { what: 'Ctrl-C', floor: '', ours: ms(stopped), target: '1000 ms' },
    ];
  },
};
