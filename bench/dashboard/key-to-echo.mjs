import { io } from 'socket.io-client';

import { summarize, timeEach } from '../measure.mjs';
import { ms, openPage } from './page.mjs';

/** A frame of the screen, in milliseconds. */
const FRAME_MS = 17;

/** Sends what a key sends, over a connection of its own, until its echo has come. */
async function withoutPage(daemon, sessionId, runs) {
  const socket = io(daemon.url, { transports: ['websocket'], forceNew: true });
  await socket.emitWithAck('attach_session', { session_id: sessionId });
  const times = await timeEach(runs, async () => {
    const came = new Promise((resolve) => socket.once('command_output', resolve));
    await socket.emitWithAck('send_input', { session_id: sessionId, data: 'x' });
    await came;
  });
  socket.disconnect();
  return times;
}

/** Presses keys in the terminal of the page; the time of each ends when the text has changed. */
async function withPage(page, runs) {
  await page.evaluate(`{
    globalThis.echoes = [];
    let pressed;
    addEventListener('keydown', () => { pressed = performance.now(); }, true);
    new MutationObserver(() => {
      if (pressed === undefined) return;
      echoes.push(performance.now() - pressed);
      pressed = undefined;
      globalThis.onEcho?.();
    }).observe(document.querySelector('.xterm-rows'), { childList: true, subtree: true, characterData: true });
  }`);
  for (let run = 1; run <= runs; run++) {
    // At any time between two frames.
    await new Promise((resolve) => setTimeout(resolve, (run * 7) % FRAME_MS));
    await page.keyboard.press('x');
    // The policy of the page forbids the `eval` of waitForFunction. Frames must not be asked for: they would delay the next echo.
    await page.evaluate(`new Promise((resolve) => {
      globalThis.onEcho = () => { if (echoes.length >= ${run}) resolve(); };
      onEcho();
    })`);
  }
  return page.evaluate('echoes');
}

/** The floor is the same terminal without a page: from what is sent to what comes. */
export const keyToEcho = {
  name: 'key to echo',
  // As for a shell, whose input was allowed when it started.
  sections: 'confirmation:\n  mode: "off"\n',
  async run({ daemon, browser, short }) {
    const { session_id } = await daemon.request('open_session');
    await daemon.request('execute_command', { session_id, command: 'cat', tty: true, background: true });
    const runs = short ? 5 : 60;
    const floor = summarize(await withoutPage(daemon, session_id, runs));
    const page = await openPage(browser, daemon, `#/sessions/${session_id}`);
    await page.locator('.xterm-rows').waitFor();
    await page.locator('button[aria-disabled=false]', { hasText: /^Type/ }).click();
    const ours = summarize(await withPage(page, runs));
    await page.context().close();
    return [
      { what: 'p50', floor: ms(floor.p50), ours: ms(ours.p50), target: '20 ms' },
      { what: 'p95', floor: ms(floor.p95), ours: ms(ours.p95), target: '' },
    ];
  },
};
