import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { Spool, SpoolBudget } from '../../../../src/engine/output/spool.js';
import { descriptorCount } from '../../../support/processes.js';

const KIB = 1024;
const MIB = KIB * KIB;

describe('Spool', () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'spool-test-'));
  });

  afterEach(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  const pattern = (bytes: number): Buffer => Buffer.from(Uint8Array.from({ length: bytes }, (_, index) => index % 251));

  it('keeps a small output in memory, without a file', async () => {
    await using spool = new Spool(directory, new SpoolBudget(MIB));
    spool.write(Buffer.from('hello '));
    spool.write(Buffer.from('world'));
    expect((await spool.read(3, 5)).toString()).toBe('lo wo');
    expect(readdirSync(directory)).toEqual([]);
  });

  it.each([1, 4 * KIB, 64 * KIB, 100_003])(
    'gives back every byte of a large output written in chunks of %i',
    async (size) => {
      await using spool = new Spool(directory, new SpoolBudget(10 * MIB));
      const bytes = pattern(size === 1 ? 70_000 : 3 * MIB);
      for (let at = 0; at < bytes.length; at += size) spool.write(bytes.subarray(at, at + size));
      expect(spool.keptBytes).toBe(bytes.length);
      expect((await spool.read(0, bytes.length)).equals(bytes)).toBe(true);
      expect((await spool.read(bytes.length - 10, 100)).equals(bytes.subarray(-10))).toBe(true);
      expect(spool.error).toBeUndefined();
    },
  );

  it('copies what it keeps: the caller uses its buffer again', async () => {
    await using spool = new Spool(directory, new SpoolBudget(MIB));
    const buffer = Buffer.from('aaaa');
    spool.write(buffer);
    buffer.fill('b');
    expect((await spool.read(0, 4)).toString()).toBe('aaaa');
  });

  it('keeps the beginning when the budget is used up, and says so', async () => {
    await using spool = new Spool(directory, new SpoolBudget(100 * KIB));
    spool.write(pattern(90 * KIB));
    spool.write(pattern(90 * KIB));
    expect(spool.keptBytes).toBe(100 * KIB);
    expect(spool.error).toContain('spool_mb_limit');
    expect((await spool.read(0, MIB)).length).toBe(100 * KIB);
  });

  it('gives its share of the budget back when it is forgotten', async () => {
    const budget = new SpoolBudget(100 * KIB);
    const first = new Spool(directory, budget);
    first.write(pattern(100 * KIB));
    await first[Symbol.asyncDispose]();
    await using second = new Spool(directory, budget);
    second.write(pattern(100 * KIB));
    expect(second.keptBytes).toBe(100 * KIB);
  });

  it('makes room for newer output when its command has ended, and not before', async () => {
    const budget = new SpoolBudget(100 * KIB);
    await using first = new Spool(directory, budget);
    first.write(pattern(80 * KIB));
    await using second = new Spool(directory, budget);
    second.write(pattern(40 * KIB));
    expect([first.keptBytes, second.keptBytes]).toEqual([80 * KIB, 20 * KIB]);
    expect(second.error).toContain('spool_mb_limit');
    first.end();
    second.end();
    await using third = new Spool(directory, budget);
    third.write(pattern(70 * KIB));
    expect([first.keptBytes, second.keptBytes, third.keptBytes]).toEqual([0, 20 * KIB, 70 * KIB]);
    expect(first.error).toContain('spool_mb_limit');
    expect(await first.read(0, 10)).toHaveLength(0);
    expect((await third.read(0, MIB)).equals(pattern(70 * KIB))).toBe(true);
    expect((await second.read(0, MIB)).equals(pattern(20 * KIB))).toBe(true);
  });

  it('finishes a read that has begun when it makes room', async () => {
    const budget = new SpoolBudget(MIB);
    const spool = new Spool(directory, budget);
    spool.write(pattern(MIB));
    await spool.flush();
    const read = spool.read(0, MIB);
    await spool.giveWay();
    expect((await read).equals(pattern(MIB))).toBe(true);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('has no descriptor open for a command that has ended, which may still write', async () => {
    const before = descriptorCount(process.pid);
    await using spool = new Spool(directory, new SpoolBudget(MIB));
    spool.write(pattern(100 * KIB));
    expect(descriptorCount(process.pid)).toBe(before + 1);
    spool.end();
    await spool.flush();
    expect(descriptorCount(process.pid)).toBe(before);
    const reads = [0, 50 * KIB].map((offset) => spool.read(offset, 50 * KIB));
    expect(Buffer.concat(await Promise.all(reads)).equals(pattern(100 * KIB))).toBe(true);
    spool.write(Buffer.from('late'));
    expect((await spool.read(100 * KIB, 10)).toString()).toBe('late');
    expect(descriptorCount(process.pid)).toBe(before);
  });

  it.each([10, 40])('makes room though its %i KiB at the end of its command were in memory', async (size) => {
    const budget = new SpoolBudget(100 * KIB);
    await using old = new Spool(directory, budget);
    old.write(pattern(10 * KIB));
    old.end();
    old.write(pattern((size - 10) * KIB));
    await using newer = new Spool(directory, budget);
    newer.write(pattern(95 * KIB));
    expect([old.keptBytes, newer.keptBytes, newer.error]).toEqual([0, 95 * KIB, undefined]);
  });

  it('removes its file', async () => {
    const spool = new Spool(directory, new SpoolBudget(MIB));
    spool.write(pattern(500 * KIB));
    await spool[Symbol.asyncDispose]();
    await spool[Symbol.asyncDispose]();
    expect(readdirSync(directory)).toEqual([]);
  });

  it('keeps the beginning in memory where no file can be made', async () => {
    await using spool = new Spool(join(directory, 'missing'), new SpoolBudget(MIB));
    spool.write(pattern(20 * KIB));
    spool.write(pattern(100 * KIB));
    expect(spool.error).toContain('ENOENT');
    expect((await spool.read(0, MIB)).equals(pattern(20 * KIB))).toBe(true);
    expect(spool.keptBytes).toBe(20 * KIB);
  });

  it('takes nothing from the budget for what it could not keep', async () => {
    const budget = new SpoolBudget(MIB);
    await using spool = new Spool(join(directory, 'nowhere'), budget);
    spool.write(pattern(20 * KIB));
    spool.write(pattern(60 * KIB));
    expect(budget.usedBytes).toBe(20 * KIB);
    await spool[Symbol.asyncDispose]();
    expect(budget.usedBytes).toBe(0);
  });

  it('gives its budget back when it makes room for its own command, which writes on after its end', async () => {
    const budget = new SpoolBudget(100 * KIB);
    await using spool = new Spool(directory, budget);
    spool.write(pattern(90 * KIB));
    spool.end();
    spool.write(pattern(60 * KIB));
    expect(spool.keptBytes).toBe(0);
    expect(budget.usedBytes).toBe(0);
    await spool[Symbol.asyncDispose]();
  });
});
