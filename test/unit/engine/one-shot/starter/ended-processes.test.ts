import { describe, expect, it } from 'vitest';

import { EndedProcesses } from '../../../../../src/engine/one-shot/starter/ended-processes.js';
import type { StarterReport } from '../../../../../src/engine/one-shot/starter/messages.js';

/** What was reported, by the numbers of processes, when they end together in such groups. */
function reportsOf(groups: readonly (readonly number[])[], written: readonly (number | undefined)[]) {
  const reports: StarterReport[] = [];
  const deferred: (() => void)[] = [];
  let looks = 0;
  const ended = new EndedProcesses({
    written: () => written[looks++],
    report: (report) => reports.push(report),
    defer: (action) => deferred.push(action),
  });
  for (const group of groups) {
    for (const id of group) ended.add({ id, kind: 'exited', exitCode: 0 });
    for (const action of deferred.splice(0)) action();
  }
  return reports.map((report) => [report.id, 'writtenBytes' in report ? report.writtenBytes : undefined]);
}

describe('what processes have written that have ended', () => {
  it.each([
    ['one after another', [[1], [2]], [5, 12, 12], [7, 0]],
    ['two together that have written nothing', [[1, 2]], [5, 5, 5], [0, 0]],
    ['two together that have: nobody knows which', [[1, 2]], [5, 9, 9], [undefined, undefined]],
    ['the next one after them', [[1, 2], [3]], [5, 9, 9, 10], [undefined, undefined, 1]],
    ['where nobody counts', [[1], [2]], [undefined, undefined, undefined], [undefined, undefined]],
  ])('%s', (_, groups, written, expected) => {
    expect(reportsOf(groups, written)).toEqual(expected.map((bytes, index) => [index + 1, bytes]));
  });
});
