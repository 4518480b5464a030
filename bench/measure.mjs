// Timing of one call after another, and what to make of the numbers.

/** Milliseconds that `work` takes, per run, after some runs that do not count; `pause` comes before each. */
export async function timeEach(runs, work, warmUp = Math.min(20, runs), pause = () => undefined) {
  for (let run = 0; run < warmUp; run++) {
    await pause();
    await work();
  }
  const times = [];
  for (let run = 0; run < runs; run++) {
    await pause();
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  return times;
}

/** Times two works in turn, in blocks, so that both see the same weather of a shared machine. */
export async function timeInTurn(blocks, runs, floor, ours, pause) {
  const times = { floor: [], ours: [] };
  for (let block = 0; block < blocks; block++) {
    const warmUp = block === 0 ? undefined : 3;
    times.floor.push(...(await timeEach(runs, floor, warmUp, pause)));
    times.ours.push(...(await timeEach(runs, ours, warmUp, pause)));
  }
  return { floor: summarize(times.floor), ours: summarize(times.ours) };
}

/** Median and 95th percentile, in milliseconds. */
export function summarize(times) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return { p50: at(0.5), p95: at(0.95), runs: sorted.length };
}
