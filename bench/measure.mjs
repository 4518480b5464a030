// Timing of one call after another, and what to make of the numbers.

/** Milliseconds that `work` takes, per run; `pause` comes before each. */
export async function timeEach(runs, work, pause = () => undefined) {
  const times = [];
  for (let run = 0; run < runs; run++) {
    await pause();
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  return times;
}

/**
 * Times two works in short rounds, in turn, so that both see the same weather of a shared machine. The ratio is the median
 * of the rounds' ratios of medians: a slow moment spoils one round only.
 * @param plan `rounds` of `runs` each, after `warmUp` runs that do not count; `runs` may differ: `{ floor, ours }`
 * @param cpuUs CPU time so far of all that takes part, in microseconds: `{ floor, ours }`; by default not shown
 */
export async function inRounds({ rounds, runs, warmUp = 20, floor, ours, pause, cpuUs }) {
  const works = { floor, ours };
  const all = { floor: [], ours: [] };
  const cpu = { floor: 0, ours: 0 };
  const ratios = [];
  await timeEach(warmUp, floor, pause);
  await timeEach(warmUp, ours, pause);
  for (let round = 0; round < rounds; round++) {
    const medians = {};
    // Neither is always the second.
    for (const side of round % 2 === 0 ? ['floor', 'ours'] : ['ours', 'floor']) {
      const before = cpuUs?.[side]() ?? 0;
      const times = await timeEach(runs, works[side], pause);
      cpu[side] += (cpuUs?.[side]() ?? 0) - before;
      all[side].push(...times);
      medians[side] = summarize(times).p50;
    }
    ratios.push(medians.ours / medians.floor);
  }
  const perRun = (side) => cpu[side] / (rounds * runs);
  return {
    floor: summarize(all.floor),
    ours: summarize(all.ours),
    ratio: summarize(ratios).p50,
    ...(cpuUs && { cpuUs: { floor: perRun('floor'), ours: perRun('ours') } }),
  };
}

/** Median, 95th percentile and maximum, in milliseconds. */
export function summarize(times) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return { p50: at(0.5), p95: at(0.95), max: sorted.at(-1), runs: sorted.length };
}
