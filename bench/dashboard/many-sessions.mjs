import { summarize } from '../measure.mjs';
import { ms, openPage } from './page.mjs';

const SESSIONS = 300;
const seconds = (count) => new Promise((resolve) => setTimeout(resolve, count * 1000));

/** Share of a core that the daemon itself takes while `work` goes on, in percent. */
async function shareOf(daemon, work) {
  const [start, cpu] = [performance.now(), daemon.ownCpuUs()];
  await work();
  return `${((daemon.ownCpuUs() - cpu) / 10 / (performance.now() - start)).toFixed(2)} % of a core`;
}

/** What the main thread of a page does in each of some seconds, in milliseconds. */
async function workPerSecond(page, count) {
  const cdp = await page.context().newCDPSession(page);
  // CPU time: what else the machine does is no work of the page.
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
  const busy = async () => {
    const { metrics } = await cdp.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration').value * 1000;
  };
  const times = [];
  let before = await busy();
  for (let second = 0; second < count; second++) {
    await seconds(1);
    const now = await busy();
    times.push(now - before);
    before = now;
  }
  return summarize(times);
}

/** Runs a command in a tenth of the sessions each second, while it is wanted. */
async function runSomeEachSecond(daemon, ids, activity) {
  const tenth = ids.length / 10;
  for (let turn = 0; activity.isWanted; turn++) {
    const start = (turn % 10) * tenth;
    const some = ids.slice(start, start + tenth);
    const command = `echo ${turn}`;
    await Promise.all(some.map((session_id) => daemon.request('execute_command', { session_id, command })));
    await seconds(1);
  }
}

/**
 * Sessions of which a tenth changes each second. The floor is the daemon with the same sessions and no page; for the page, the same
 * page with one session.
 */
export const manySessions = {
  name: `${SESSIONS} sessions`,
  settings: { max_sessions: SESSIONS + 10 },
  sections: `auth:\n  max_sessions_per_token: ${SESSIONS + 10}\n`,
  async run({ daemon, browser, short }) {
    const count = short ? 2 : 15;
    const page = await openPage(browser, daemon);
    const few = await workPerSecond(page, count);
    const ids = [];
    for (let session = 0; session < SESSIONS; session++) ids.push((await daemon.request('open_session')).session_id);
    await page.goto('about:blank');
    await seconds(2);
    const alone = await shareOf(daemon, () => seconds(count));
    const watching = await openPage(browser, daemon);
    await seconds(2);
    const watched = await shareOf(daemon, () => seconds(count));
    const quiet = await workPerSecond(watching, count);
    const activity = { isWanted: true };
    const working = runSomeEachSecond(daemon, ids, activity);
    const busy = await workPerSecond(watching, count);
    activity.isWanted = false;
    await working;
    await watching.context().close();
    await page.context().close();
    return [
      { what: 'daemon, idle', floor: alone, ours: watched, target: '3 % of a core' },
      { what: 'page, idle, p95', floor: ms(few.p95), ours: ms(quiet.p95), target: '50 ms a tick' },
      { what: 'page, 30 commands/s, p95', floor: ms(few.p95), ours: ms(busy.p95), target: '50 ms a tick' },
    ];
  },
};
