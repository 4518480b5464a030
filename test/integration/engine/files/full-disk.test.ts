import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { performerWith } from '../../../../src/engine/files/perform.js';
import { linux } from '../../../../src/engine/platform/linux/linux.js';
import { describeRootIf } from '../../../support/root.js';
import { canMount, Tmpfs } from '../../../support/machine/tmpfs.js';

const MIB = 1024 * 1024;
const here = performerWith(linux.directories);
const LARGE = Buffer.alloc(2 * MIB, 'x');

describeRootIf(canMount())('on a full disk', () => {
  let disk: Tmpfs;
  const at = (...names: string[]) => ({ path: join(disk.path, ...names) });
  const job = { kind: 'write', createDirectories: true, permissions: undefined, expected: {} } as const;
  async function* inPieces() {
    for (let from = 0; from < LARGE.length; from += MIB / 4) {
      yield await Promise.resolve(LARGE.subarray(from, from + MIB / 4));
    }
  }

  beforeAll(() => {
    disk = new Tmpfs(1);
    writeFileSync(at('old').path, 'old');
  });
  afterAll(() => {
    disk[Symbol.dispose]();
  });

  it.each([
    ['replaced at once', () => here.perform({ ...job, at: at('old'), mode: 'overwrite' }, LARGE)],
    ['replaced piece by piece', () => here.receive({ ...job, at: at('old'), mode: 'overwrite' }, inPieces())],
    ['appended to at once', () => here.perform({ ...job, at: at('old'), mode: 'append' }, LARGE)],
    ['appended to piece by piece', () => here.receive({ ...job, at: at('old'), mode: 'append' }, inPieces())],
    ['created', () => here.receive({ ...job, at: at('made/new'), mode: 'create' }, inPieces())],
    [
      'edited',
      () =>
        here.perform({
          kind: 'edit',
          at: at('old'),
          oldText: 'old',
          newText: LARGE.toString(),
          all: false,
          expected: {},
        }),
    ],
  ])('a file that is %s is as it was, and nothing else is left', async (_how, write) => {
    await expect(write()).rejects.toMatchObject({ code: 'DISK_FULL', details: { errno: 'ENOSPC' } });
    expect(readFileSync(at('old').path, 'utf8')).toBe('old');
    expect(readdirSync(disk.path)).toEqual(['old']);
  });
});
