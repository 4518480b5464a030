import { expect, it } from 'vitest';

import { tasksLeftByUser } from '../../../../src/engine/platform/linux/own-group.js';

const limits = (most: number | 'unlimited') =>
  `Limit                     Soft Limit           Hard Limit           Units
Max core file size        0                    unlimited            bytes
Max processes             ${String(most).padEnd(21)}unlimited            processes
`;
const status = (uid: number, capabilities = '0000000000000000') =>
  `Name:\tnode\nUid:\t${uid}\t${uid}\t${uid}\t${uid}\nCapInh:\t0000000000000000\nCapEff:\t${capabilities}\n`;

const BY_CAP_SYS_RESOURCE = '0000000001000000';

it.each([
  ['a user near the limit', limits(500), status(1000), 450, 480, 20],
  ['a user above the limit, as after it was lowered', limits(300), status(1000), 900, 310, -10],
  ['a machine with fewer tasks than the limit: they are not counted', limits(5000), status(1000), 450, NaN, 4550],
  ['no limit', limits('unlimited'), status(1000), 450, NaN, Infinity],
  ['root', limits(100), status(0), 450, NaN, Infinity],
  ['a capability', limits(100), status(1000, BY_CAP_SYS_RESOURCE), 450, NaN, Infinity],
  ['no /proc', '', '', Infinity, NaN, Infinity],
])('RLIMIT_NPROC leaves to %s', (_, limitsText, statusText, tasks, own, left) => {
  expect(tasksLeftByUser(limitsText, statusText, tasks, () => own)).toBe(left);
});
