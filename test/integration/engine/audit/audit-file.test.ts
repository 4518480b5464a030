import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { itRootIf } from '../../../support/root.js';
import { type AuditRecord, type ChainEnd, GENESIS, sealRecord } from '../../../../src/core/audit.js';
import { linux } from '../../../../src/engine/platform/linux/linux.js';
import { SecretMask } from '../../../../src/core/secrets.js';
import { AuditFile, type AuditFileOptions } from '../../../../src/engine/audit/audit-file.js';
import { sha256 } from '../../../../src/engine/audit/files.js';
import { verifyAudit } from '../../../../src/engine/audit/verify.js';
import { canMount, Tmpfs } from '../../../support/machine/tmpfs.js';

let directory: string;
let path: string;
let failures: unknown[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'shell-adapter-audit-'));
  path = join(directory, 'audit.jsonl');
  failures = [];
});
afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

const open = (options: Partial<AuditFileOptions> = {}) =>
  AuditFile.open({
    path,
    platform: linux,
    maxBytes: 1024 * 1024,
    backups: 3,
    mask: new SecretMask(),
    onFailure: (error) => failures.push(error),
    ...options,
  });

/** Records so many requests and has them written. */
async function write(count: number, options: Partial<AuditFileOptions> = {}): Promise<void> {
  await using file = await open(options);
  for (let number = 1; number <= count; number += 1) file.record({ event: 'request', details: { number } });
}

const records = (file = path): AuditRecord[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as AuditRecord);

const gapsOf = (found: readonly AuditRecord[]) =>
  found.filter(({ event }) => event === 'gap').map(({ details }) => details);

describe('an audit log', () => {
  it('is a chain that goes on with each run, in a file that only its owner can read', async () => {
    await write(3);
    await write(2);
    expect(await verifyAudit(path)).toMatchObject({ ok: true, records: 5, first_seq: 1, last_seq: 5, gaps: [] });
    for (const file of [path, `${path}.head`]) expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  it('is rotated without breaking the chain; when the oldest files have gone, that is said', async () => {
    await write(60, { maxBytes: 4096, backups: 30 });
    const all = await verifyAudit(path);
    expect(all).toMatchObject({ ok: true, records: 60, first_seq: 1, last_seq: 60 });
    expect(all.files.length).toBeGreaterThan(3);
    for (const file of all.files) expect(statSync(file).size).toBeLessThanOrEqual(4096);
    await write(60, { maxBytes: 4096, backups: 2 });
    rmSync(`${path}.3`);
    for (const file of all.files) if (/\.([4-9]|\d\d)$/.test(file)) rmSync(file, { force: true });
    const rest = await verifyAudit(path);
    expect(rest).toMatchObject({ ok: true, last_seq: 120, gaps: [] });
    expect(rest.first_seq).toBeGreaterThan(60);
    expect(rest.files).toEqual([`${path}.2`, `${path}.1`, path]);
  });

  it('keeps no more files than it may', async () => {
    await write(100, { maxBytes: 4096, backups: 2 });
    expect((await verifyAudit(path)).files).toEqual([`${path}.2`, `${path}.1`, path]);
  });

  it('is written by one daemon at a time', async () => {
    await using file = await open();
    file.record({ event: 'daemon_started' });
    await expect(open()).rejects.toMatchObject({
      code: 'RESOURCE_EXHAUSTED',
      message: expect.stringContaining(`process ${process.pid}`) as string,
    });
  });

  it('is taken over from a process that has ended', async () => {
    writeFileSync(`${path}.lock`, '999999999 1');
    await write(1);
    expect(records()).toHaveLength(1);
  });
});

describe('what others have done to it', () => {
  it('a torn last line is taken off, and a record says so', async () => {
    await write(3);
    appendFileSync(path, '{"seq":4,"time":"20');
    expect(await verifyAudit(path)).toMatchObject({ ok: true, records: 3 });
    await write(1);
    expect(gapsOf(records())).toEqual([{ reason: 'torn', bytes: 19 }]);
    expect(await verifyAudit(path)).toMatchObject({ ok: true, records: 5, fault: null });
  });

  it('an end that was cut off shows by the head file, before the next start and for ever after it', async () => {
    await write(5);
    const lines = readFileSync(path, 'utf8').split('\n');
    writeFileSync(path, `${lines.slice(0, 3).join('\n')}\n`);
    expect(await verifyAudit(path)).toMatchObject({
      ok: false,
      fault: { line: null, after_seq: 3, why: 'the records 4 to 5 were there and are missing' },
    });
    await write(1);
    expect(gapsOf(records())).toEqual([{ reason: 'truncated', first_missing_seq: 4, last_missing_seq: 5 }]);
    expect(await verifyAudit(path)).toMatchObject({ ok: false, fault: null });
  });

  it('a whole log that was removed shows likewise', async () => {
    await write(5);
    rmSync(path);
    expect(await verifyAudit(path)).toMatchObject({ ok: false, fault: { after_seq: 0 } });
    await write(1);
    expect(records().map(({ seq }) => seq)).toEqual([6, 7]);
    expect(await verifyAudit(path)).toMatchObject({ ok: false, first_seq: 6 });
  });

  it('a record that was written anew, with others behind it, shows by the head file for ever', async () => {
    await write(5);
    let end: ChainEnd = GENESIS;
    const forged = records().map(({ time, event }, index) => {
      const sealed = sealRecord(time, { event, details: { number: index === 3 ? 7 : index + 1 } }, end, sha256);
      end = sealed;
      return sealed.line;
    });
    forged.push(sealRecord(new Date().toISOString(), { event: 'request' }, end, sha256).line);
    writeFileSync(path, `${forged.join('\n')}\n`);
    expect(await verifyAudit(path)).toMatchObject({
      ok: false,
      fault: { why: 'record 5 is not the one that was written' },
    });
    await write(1);
    expect(gapsOf(records())).toMatchObject([{ reason: 'changed', seq: 5 }]);
    expect(await verifyAudit(path)).toMatchObject({ ok: false, fault: null });
  });

  it('a head that is a batch behind is that of a daemon that was killed, and no fault', async () => {
    const small = { maxBytes: 300, backups: 30 };
    await write(3, small);
    const head = readFileSync(`${path}.head`);
    await write(3, small);
    writeFileSync(`${path}.head`, head);
    expect((await verifyAudit(path)).files.length).toBeGreaterThan(2);
    await write(1, small);
    expect(await verifyAudit(path)).toMatchObject({ ok: true, records: 7, gaps: [] });
  });

  it('a head that was removed shows', async () => {
    await write(2);
    rmSync(`${path}.head`);
    expect(await verifyAudit(path)).toMatchObject({ ok: false, fault: { why: 'the head file is missing' } });
  });

  it('a head that was emptied shows', async () => {
    await write(2);
    truncateSync(`${path}.head`);
    expect(await verifyAudit(path)).toMatchObject({
      ok: false,
      fault: { why: 'the head file is not what was written' },
    });
  });

  it('a changed record is named with its place', async () => {
    await write(5);
    writeFileSync(path, readFileSync(path, 'utf8').replace('"number":3', '"number":7'));
    expect(await verifyAudit(path)).toMatchObject({ ok: false, fault: { file: path, line: 3, after_seq: 2 } });
  });

  it.each([
    ['removed', (file: string) => rmSync(file), 'replaced'],
    ['emptied', (file: string) => truncateSync(file), 'changed'],
  ])('while it is written: a file that is %s is noticed with the next record', async (_what, change, reason) => {
    await using file = await open();
    file.record({ event: 'request' });
    await file.flush();
    change(path);
    file.record({ event: 'request' });
    await file.flush();
    expect(records().map(({ seq, event }) => ({ seq, event }))).toEqual([
      { seq: 2, event: 'gap' },
      { seq: 3, event: 'request' },
    ]);
    expect(gapsOf(records())).toMatchObject([{ reason }]);
  });
});

describe('a log that cannot be written', () => {
  it('keeps what it can, counts the rest, and goes on with a record of the gap', async () => {
    const folder = join(directory, 'folder');
    writeFileSync(folder, 'in the way');
    await using file = await open({ path: join(folder, 'of/audit.jsonl'), maxBytes: 1024 ** 3 });
    const total = 12_345;
    for (let number = 1; number <= total; number += 1) file.record({ event: 'request', details: { number } });
    await file.flush();
    expect(failures.length).toBeGreaterThan(0);
    rmSync(folder);
    await file.flush();
    const found = records(join(folder, 'of/audit.jsonl'));
    const gaps = gapsOf(found) as { lost: number; since: string; until: string }[];
    expect(gaps).toMatchObject([{ reason: 'lost' }]);
    expect(found.length - 1 + gaps[0]!.lost).toBe(total);
    expect(Date.parse(gaps[0]!.since)).toBeLessThanOrEqual(Date.parse(gaps[0]!.until));
    expect(await verifyAudit(join(folder, 'of/audit.jsonl'))).toMatchObject({ ok: true });
  });

  itRootIf(canMount())('on a full disk has no half records, and goes on when there is room', async () => {
    using disk = new Tmpfs(1);
    const onDisk = join(disk.path, 'audit.jsonl');
    const filler = join(disk.path, 'filler');
    await using file = await open({ path: onDisk });
    file.record({ event: 'daemon_started' });
    await file.flush();
    expect(() => writeFileSync(filler, Buffer.alloc(1024 * 1024))).toThrow('ENOSPC');
    for (let number = 1; number <= 100; number += 1) {
      file.record({ event: 'command_started', command: `echo ${'x'.repeat(500)}` });
      await file.flush();
    }
    expect(failures).toMatchObject([{ code: 'ENOSPC' }]);
    rmSync(filler);
    await file.flush();
    expect(await verifyAudit(onDisk)).toMatchObject({ ok: true, records: 101, gaps: [] });
  });
});

describe('recording', () => {
  itRootIf(canMount())('goes on when there is room on a disk that was full from the start', async () => {
    using disk = new Tmpfs(1);
    const onDisk = join(disk.path, 'audit.jsonl');
    const filler = join(disk.path, 'filler');
    expect(() => writeFileSync(filler, Buffer.alloc(2 * 1024 * 1024))).toThrow('ENOSPC');
    await using file = await open({ path: onDisk });
    expect(failures).toMatchObject([{ code: 'ENOSPC' }]);
    rmSync(filler);
    file.record({ event: 'daemon_started' });
    await file.flush();
    expect(await verifyAudit(onDisk)).toMatchObject({ ok: true, records: 1, gaps: [] });
  });

  it('writes nothing while the caller waits', async () => {
    await using file = await open({ maxBytes: 1024 ** 3 });
    const count = 5000;
    for (let number = 0; number < count; number += 1) {
      file.record({ event: 'command_started', command: 'echo hello', session_id: 'session_x' });
    }
    expect(existsSync(path)).toBe(false);
    await file.flush();
    expect(await verifyAudit(path)).toMatchObject({ ok: true, records: count });
  });
});
