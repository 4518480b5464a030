import { setTimeout as sleep } from 'node:timers/promises';

import type { ErrorBody } from '../core/errors.js';
import type { RequestName } from '../core/protocol/requests.js';
import type { ReceivedRequest } from '../services/ports/cluster-port.js';
import { nodeUnreachable } from './failures.js';
import { cursorOf, mergePages } from './command-pages.js';
import type { LinkReply } from './links/link-types.js';
import type { Relay } from './relay.js';
import type { Worker } from './workers.js';

/** Time for all nodes to answer what is asked of all, in milliseconds. */
const GATHER_TIMEOUT_MS = 1000;

/** A node that has not answered. */
export interface Unreachable {
  readonly node: string;
  readonly code: ErrorBody['code'];
}

/** Answer of one node. */
export interface NodeAnswer {
  readonly node: string;
  readonly reply: LinkReply;
}

type Fields = Readonly<Record<string, unknown>>;
type Entries = readonly Fields[];

const listIn = (answers: readonly Fields[], field: string): Entries =>
  answers.flatMap((answer) => (answer[field] ?? []) as Entries);

/** Lists of different nodes as one, the newest first. */
const newestFirst = (entries: Entries, at: string): Entries =>
  [...entries].sort((one, other) => String(other[at]).localeCompare(String(one[at])));

/** Makes one answer of those of several nodes. */
type Merge = (answers: readonly Fields[]) => Fields;

const MERGES: Partial<Record<RequestName, Merge>> = {
  list_sessions: (answers) => ({ sessions: listIn(answers, 'sessions') }),
  list_confirmations: (answers) => ({ confirmations: listIn(answers, 'confirmations') }),
  list_ports: (answers) => ({ ports: listIn(answers, 'ports') }),
  list_llm_calls: (answers) => ({ calls: newestFirst(listIn(answers, 'calls'), 'started_at') }),
  list_remembered_approvals: (answers) => ({
    approvals: listIn(answers, 'approvals'),
    problem: answers.find(({ problem }) => problem !== null)?.['problem'] ?? null,
  }),
  list_recordings: (answers) => ({
    recordings: newestFirst(listIn(answers, 'recordings'), 'started_at'),
    total_bytes: answers.reduce((sum, { total_bytes: bytes }) => sum + Number(bytes), 0),
    truncated: answers.some(({ truncated }) => truncated === true),
  }),
};

/**
 * One answer of those of all nodes that have answered: their lists together, and `unreachable` with the others. An error
 * is the answer when no node has given another one.
 */
export function mergeAnswers(
  { name, payload }: Pick<ReceivedRequest, 'name' | 'payload'>,
  answers: readonly NodeAnswer[],
  unreachable: readonly Unreachable[],
): LinkReply {
  const good = answers.filter(({ reply }) => !('error' in reply));
  const [first] = answers;
  if (good.length === 0 && first) return first.reply;
  const rest = unreachable.length > 0 ? { unreachable } : {};
  const merged = name === 'list_commands' ? mergePages(good as never, payload) : mergeLists(name, good);
  return { ...merged, ...rest } as unknown as LinkReply;
}

const mergeLists = (name: RequestName, answers: readonly NodeAnswer[]): Fields =>
  MERGES[name]?.(answers.map(({ reply }) => reply as Fields)) ?? {};

/**
 * Asks all workers at once, and makes one answer of theirs.
 * @param relay sends the request to a worker
 */
export async function askAll(workers: readonly Worker[], received: ReceivedRequest, relay: Relay): Promise<LinkReply> {
  const { name, payload, caller, trace } = received;
  const asked = workers.flatMap((worker) => {
    const own = ownPayload(name, payload, worker.name);
    return own === undefined ? [] : [{ worker, payload: own.payload }];
  });
  const answers = await Promise.all(
    asked.map(async ({ worker, payload: own }) => {
      const request = { name, payload: own, caller, trace, repeat: 'safe' as const };
      return { node: worker.name, reply: await inTime(worker, () => relay(worker, request)) };
    }),
  );
  const isMissing = ({ reply }: NodeAnswer) => 'error' in reply && ABSENCES.has(reply.error.code);
  const unreachable = answers.filter(isMissing).map(({ node, reply }) => ({ node, code: codeOf(reply) }));
  const present = answers.filter((answer) => !isMissing(answer));
  return mergeAnswers(received, present, unreachable);
}

/**
 * Asks all workers for something that one of them has, and gives the answer of that one. Undefined without workers.
 * @param ask sends the request to a worker
 */
export async function askOwner(
  workers: readonly Worker[],
  ask: (worker: Worker) => Promise<LinkReply>,
): Promise<LinkReply | undefined> {
  const [only, ...others] = workers;
  if (!only) return undefined;
  if (others.length === 0) return ask(only);
  const asked = workers.map((worker) => inTime(worker, () => ask(worker)));
  const found = await firstThat(asked, (reply) => !isUnknown(reply));
  if (found) return found;
  const replies = await Promise.all(asked);
  // A node that has not answered may have it.
  return replies.find((reply) => 'error' in reply && ABSENCES.has(reply.error.code)) ?? replies[0];
}

/** Codes of a node that has not answered. */
const ABSENCES: ReadonlySet<string> = new Set(['NODE_LOST', 'NODE_UNREACHABLE']);

const codeOf = (reply: LinkReply): ErrorBody['code'] => ('error' in reply ? reply.error.code : 'INTERNAL');

/** Whether a node does not have the object of a request. */
function isUnknown(reply: LinkReply): boolean {
  if (!('error' in reply)) return 'cancelled' in reply && !reply.cancelled;
  const { code } = reply.error;
  return ABSENCES.has(code) || code.endsWith('_NOT_FOUND') || code === 'NO_RUNNING_COMMAND';
}

/** The reply of a worker; of one without a connection, or that takes too long, the error. */
async function inTime(worker: Worker, ask: () => Promise<LinkReply>): Promise<LinkReply> {
  const late = nodeUnreachable(worker.name, worker.link.problem ?? 'it has not answered in time');
  if (!worker.isLive) return { error: late.toBody() };
  return Promise.race([ask(), sleep(GATHER_TIMEOUT_MS, { error: late.toBody() }, { ref: false })]);
}

/** The first value that passes the test, as soon as it is there; undefined when none does. */
async function firstThat<T>(promises: readonly Promise<T>[], test: (value: T) => boolean): Promise<T | undefined> {
  const passing = promises.map(async (promise) => {
    const value = await promise;
    if (!test(value)) throw new Error('not this one');
    return value;
  });
  return Promise.any(passing).catch(() => undefined);
}

/** The payload for one node; undefined when it has no more of the list. */
function ownPayload(name: RequestName, payload: unknown, node: string): { readonly payload: unknown } | undefined {
  const fields = (payload ?? {}) as Fields;
  const { before } = fields;
  if (name !== 'list_commands' || typeof before !== 'string') return { payload };
  const own = cursorOf(before, node);
  return own === undefined ? undefined : { payload: { ...fields, before: own } };
}
