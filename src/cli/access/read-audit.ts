import { type FSWatcher, statSync, watch } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';

import { directoryOf } from '../../cluster/holder-directory.js';
import { type AuditQuery, type AuditRecord, matchesQuery, readRecord } from '../../core/audit.js';
import { listAuditFiles, type ListedFile, listStanding, readLines, sha256 } from '../../engine/audit/files.js';
import { type AuditFindings, verifyAudit } from '../../engine/audit/verify.js';
import { configurationOf } from '../connect/configuration.js';
import { alignColumns, onOneLine } from '../console/style.js';
import { commandLineFor, type Context, quoteWord, untilStopped } from '../console/context.js';
import { CommandLineError, EXIT } from '../console/failure.js';
import { type JsonOption, printAnswer } from '../console/subcommand.js';

/** Reads the records of an audit log incrementally: each call returns only records that it has not returned before. */
class AuditReader {
  readonly #path: string;
  /** Number of the last record that was read. */
  #seq = 0;
  /** Inode of the file that was read last, and the position in it. */
  #position = { ino: 0, bytes: 0 };
  #unreadable = 0;

  /** @param path path of the newest file */
  constructor(path: string) {
    this.#path = path;
  }

  /** Number of invalid lines so far: unparsable, or changed after they were written. `verify` reports the details. */
  get unreadable(): number {
    return this.#unreadable;
  }

  /** Yields all new valid records, the oldest first. */
  async *next(): AsyncGenerator<AuditRecord> {
    let isDone = false;
    while (!isDone) isDone = yield* this.#walk();
  }

  /** Returns whether all files were read. A file that a rotation renames in the meantime is located again. */
  async *#walk(): AsyncGenerator<AuditRecord, boolean> {
    const files = listStanding(this.#path);
    const known = files.findIndex(({ ino }) => ino === this.#position.ino);
    for (const file of files.slice(Math.max(0, known))) {
      const handle = await openAs(file);
      if (!handle) return false;
      const isKnown = file.ino === this.#position.ino && file.size >= this.#position.bytes;
      if (!isKnown) this.#position = { ino: file.ino, bytes: 0 };
      yield* this.#read(handle);
    }
    return true;
  }

  async *#read(handle: FileHandle): AsyncGenerator<AuditRecord> {
    const after = this.#seq;
    for await (const { text, isWhole, bytes } of readLines(handle, this.#position.bytes)) {
      // The line is incomplete: it is still being written, or was torn.
      if (!isWhole) return;
      this.#position.bytes += bytes + 1;
      const record = readRecord(text, sha256);
      if (typeof record === 'string') this.#unreadable += 1;
      else if (record.seq > after) {
        this.#seq = record.seq;
        yield record;
      }
    }
  }
}

/** Opens the file unless it was renamed. */
async function openAs({ path, ino }: ListedFile): Promise<FileHandle | undefined> {
  const handle = await open(path).catch(ifMissing);
  if (!handle || (await handle.stat()).ino === ino) return handle;
  await handle.close();
  return undefined;
}

function ifMissing(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
}

/** Which log is read, and how its records are printed. */
interface AuditLog extends JsonOption {
  readonly config?: string;
  readonly file?: string;
}

/** Verifies the hash chains and reports the result, also in the exit code. */
export async function verifyAuditLog(context: Context, log: AuditLog): Promise<void> {
  const paths = pathsOf(context, log);
  const all = await Promise.all(paths.map(async (path) => ({ path, findings: await verifyAudit(path) })));
  const isOk = all.every(({ findings }) => findings.ok);
  const [first, ...others] = all;
  const answer = others.length === 0 ? first?.findings : { ok: isOk, logs: all.map(({ findings }) => findings) };
  await printAnswer(context, log, answer, () =>
    all.flatMap(({ path, findings }) => [...(others.length === 0 ? [] : [`${path}:`]), ...renderFindings(findings)]),
  );
  if (!isOk) context.exitWith(EXIT.failed);
}

/** Prints the latest records, and optionally new ones as they are written. */
export async function tailAuditLog(
  context: Context,
  log: AuditLog & { readonly lines: number; readonly follow?: boolean },
): Promise<void> {
  const paths = pathsOf(context, log);
  const readers = paths.map((path) => new AuditReader(path));
  const { lines } = log;
  let latest: AuditRecord[] = [];
  for await (const record of newIn(readers)) {
    latest.push(record);
    if (latest.length >= lines + BATCH) latest = latest.slice(latest.length - lines);
  }
  await show(context, latest.slice(Math.max(0, latest.length - lines)), log);
  await reportUnreadable(context, log, readers);
  if (log.follow) await follow(context, paths, readers, log);
}

/** Prints the matching records. */
export async function searchAuditLog(context: Context, log: AuditLog & AuditQuery): Promise<void> {
  const readers = pathsOf(context, log).map((path) => new AuditReader(path));
  let found: AuditRecord[] = [];
  for await (const record of newIn(readers)) {
    if (context.stdout.isBroken) return;
    if (matchesQuery(record, log)) found.push(record);
    if (found.length < BATCH) continue;
    await show(context, found, log);
    found = [];
  }
  await show(context, found, log);
  await reportUnreadable(context, log, readers);
}

/** The new records of all logs, the oldest first. */
async function* newIn(readers: readonly AuditReader[]): AsyncGenerator<AuditRecord> {
  const logs = readers.map((reader) => reader.next());
  const heads = await Promise.all(logs.map((log) => log.next()));
  for (;;) {
    const first = heads.reduce((best, head, index) => (isEarlier(head, heads[best]) ? index : best), 0);
    const { [first]: head } = heads;
    const { [first]: log } = logs;
    if (!head || head.done === true || !log) return;
    yield head.value;
    heads[first] = await log.next();
  }
}

type Head = IteratorResult<AuditRecord, undefined> | undefined;

/** Whether the next record of one log comes before that of another; a log that has ended comes last. */
const isEarlier = (one: Head, other: Head): boolean =>
  one?.done === false && (other?.done !== false || one.value.time < other.value.time);

/** Number of records that are printed together, with aligned columns. */
const BATCH = 5000;

async function reportUnreadable(
  context: Context,
  { config, file }: AuditLog,
  readers: readonly AuditReader[],
): Promise<void> {
  const unreadable = readers.reduce((sum, reader) => sum + reader.unreadable, 0);
  if (unreadable === 0) return;
  const what =
    unreadable === 1
      ? '1 line is no record as it was written'
      : `${unreadable} lines are no records as they were written`;
  const verify = commandLineFor(context, { config })(
    file === undefined ? 'audit verify' : `audit verify --file ${quoteWord(file)}`,
  );
  await context.stderr.write(`shell-adapter: ${what}, and not shown: ${verify} says where\n`);
}

/** The log of the daemon, and those of the processes that hold its sessions: together they are what it has recorded. */
function pathsOf(context: Context, { config, file }: AuditLog): readonly string[] {
  if (file !== undefined) {
    const isFile = statSync(file, { throwIfNoEntry: false })?.isFile() ?? true;
    if (isFile && listAuditFiles(file).length > 0) return [file];
    throw new CommandLineError(`--file: there is no audit log at ${file}`);
  }
  const { audit, adapter, socketio } = configurationOf(context, config);
  const held = directoryOf(adapter.stateDirectory, socketio.port).auditLogs();
  if (audit.enabled || listAuditFiles(audit.file).length > 0) return [audit.file, ...held];
  throw new CommandLineError('the configuration has audit.enabled: false, and there is no audit log', {
    hint: 'Give another configuration with --config, or the log itself with --file.',
  });
}

/** Prints new records until a signal arrives or the reader closes standard output. */
async function follow(
  context: Context,
  paths: readonly string[],
  readers: readonly AuditReader[],
  log: AuditLog,
): Promise<void> {
  await untilStopped(context, async (signal, stopped) => {
    using changes = new Changes([...new Set(paths.map((path) => dirname(path)))]);
    // Records may have been written before the watch started.
    do {
      for await (const record of newIn(readers)) await show(context, [record], log);
      await Promise.race([changes.next(), stopped]);
    } while (!signal.aborted);
  });
}

/** Watches folders for changes. Changes between two calls of `next` are reported once. */
class Changes implements Disposable {
  readonly #watchers: readonly FSWatcher[];
  #hasChanged = false;
  #notify: () => void = () => undefined;

  constructor(folders: readonly string[]) {
    const note = () => {
      this.#hasChanged = true;
      this.#notify();
    };
    this.#watchers = folders.map((folder) => watch(folder, note));
  }

  /** Resolves on the first change since the last call. */
  async next(): Promise<void> {
    if (!this.#hasChanged) {
      await new Promise<void>((resolve) => {
        this.#notify = resolve;
      });
    }
    this.#hasChanged = false;
  }

  [Symbol.dispose](): void {
    for (const watcher of this.#watchers) watcher.close();
  }
}

/** Longest text in the table, in characters. */
const MAX_TEXT = 160;

async function show({ stdout }: Context, records: readonly AuditRecord[], { json }: AuditLog): Promise<void> {
  if (records.length === 0) return;
  const lines = json ? records.map((record) => JSON.stringify(record)) : alignColumns(records.map(renderRow));
  await stdout.write(`${lines.join('\n')}\n`);
}

function renderRow(record: AuditRecord): string[] {
  const { name = '-' } = (record['principal'] ?? {}) as { readonly name?: string };
  const { request, outcome, verdict, details = {}, command, args = [] } = record as unknown as ShownFields;
  const what: (string | undefined)[] = [
    request,
    verdict && `${verdict.action} (${verdict.class})`,
    command === undefined ? undefined : [command, ...args].join(' '),
    outcome === 'ok' ? undefined : outcome,
    ...Object.entries(details).map(([key, value]) => `${key}=${JSON.stringify(value)}`),
  ];
  const text = what.filter((part) => part !== undefined).join('  ');
  return [String(record.seq), record.time, name, record.event, onOneLine(text, MAX_TEXT)];
}

interface ShownFields {
  readonly request?: string;
  readonly outcome?: string;
  readonly verdict?: { readonly action: string; readonly class: string };
  readonly details?: Readonly<Record<string, unknown>>;
  readonly command?: string;
  readonly args?: readonly string[];
}

function renderFindings({ ok, files, records, gaps, fault, ...range }: AuditFindings): string[] {
  if (files.length === 0 && ok) return ['there is no audit log'];
  const { first_seq: first } = range;
  const lines = [`${records} records in ${files.length} file${files.length === 1 ? '' : 's'}${renderRange(range)}`];
  if (first !== null && first > 1) lines.push(`the chain begins at record ${first}: older files are gone`);
  for (const { seq, time, details } of gaps) lines.push(`gap at record ${seq} (${time}): ${JSON.stringify(details)}`);
  if (fault) lines.push(renderFault(fault));
  return [...lines, ok ? 'in order' : 'NOT in order'];
}

const renderRange = ({ first_seq: first, last_seq: last }: Pick<AuditFindings, 'first_seq' | 'last_seq'>): string =>
  first === null ? '' : `, ${first} to ${last ?? first}`;

function renderFault({ file, line, after_seq: after, why }: NonNullable<AuditFindings['fault']>): string {
  const place = line === null ? file : `${file}:${line}`;
  return `${place}: after record ${after}: ${why}`;
}
