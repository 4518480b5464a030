import { setTimeout as sleep } from 'node:timers/promises';

import type { ErrorBody } from '../core/errors.js';
import type { Merge, RequestEntry } from '../core/protocol/define-requests.js';
import { type Answer, type Request, type RequestName, requests } from '../core/protocol/requests.js';
import type { ReceivedRequest, RoutedReply } from '../services/cluster-port.js';
import { nodeUnreachable } from './failures.js';
import type { SessionNode } from './placement.js';
import type { Relay } from './relay.js';

/** Entries of `list_commands` without `limit`. */
const DEFAULT_LIMIT = 50;

/** A page of the commands of one node, the newest first. */
interface CommandPage {
  readonly node: string;
  readonly reply: Answer<'list_commands'>;
}

type Listed = Answer<'list_commands'>['commands'][number];

/** What is left of a page while pages are merged. */
interface Rest {
  readonly node: string;
  readonly commands: readonly Listed[];
  /** The cursor behind the page; null at the end of the list. */
  readonly next: string | null;
  readonly taken: number;
}

/**
 * One page of those of several nodes, with as many entries as were asked for. The newest of all comes first, by the clocks of
 * the nodes; the order of each node is kept. The cursor has the place in the list of each node: `NODE:CURSOR+NODE:CURSOR`,
 * without nodes whose list is at its end.
 * @param request parsed
 */
export function mergePages(pages: readonly CommandPage[], { limit = DEFAULT_LIMIT }: Request<'list_commands'>) {
  const rests: Rest[] = pages.map(({ node, reply: { commands, next } }) => ({ node, commands, next, taken: 0 }));
  const commands: Listed[] = [];
  while (commands.length < limit) {
    const newest = rests.reduce<number>((best, rest, index) => (isNewer(rest, rests[best]) ? index : best), -1);
    const rest = rests[newest];
    const command = rest && headOf(rest);
    if (!command) break;
    commands.push(command);
    rests[newest] = { ...rest, taken: rest.taken + 1 };
  }
  const cursors = rests.flatMap((rest) => {
    const cursor = cursorBehind(rest);
    return cursor === null ? [] : [`${rest.node}:${cursor}`];
  });
  return { commands, next: cursors.length === 0 ? null : cursors.join('+') };
}

/** The part of a shared cursor that belongs to a node; undefined for a node that is at its end. */
export const cursorOf = (cursor: string, node: string): string | undefined =>
  cursor
    .split('+')
    .map((part) => part.split(':'))
    .find(([name]) => name === node)?.[1];

const headOf = ({ commands, taken }: Rest): Listed | undefined => commands[taken];

function isNewer(rest: Rest, best: Rest | undefined): boolean {
  const head = headOf(rest);
  if (!head) return false;
  const other = best && headOf(best);
  return !other || head.accepted_at > other.accepted_at;
}

function cursorBehind(rest: Rest): string | null {
  const head = headOf(rest);
  return head ? String(head.number + 1) : rest.next;
}

/** Time for all nodes to answer what is asked of all, in milliseconds. */
const GATHER_TIMEOUT_MS = 1000;

interface Unreachable {
  readonly node: string;
  readonly code: ErrorBody['code'];
}

export interface NodeAnswer {
  readonly node: string;
  readonly reply: RoutedReply['reply'];
}

/** The same, and whether another node has recorded it. */
type Gathered = NodeAnswer & RoutedReply;

type Fields = Readonly<Record<string, unknown>>;
type Entries = readonly Fields[];

/** Sorted by the text of a field: the same order, whichever node is asked. */
const sorted = (entries: Entries, at: string): Entries =>
  [...entries].sort((one, other) => String(one[at]).localeCompare(String(other[at])));

function mergedValue(merge: Merge, values: readonly unknown[]): unknown {
  if (merge === 'sum') return values.reduce<number>((sum, value) => sum + Number(value), 0);
  if (merge === 'any') return values.includes(true);
  if (merge === 'first') return values.find((value) => value !== null) ?? null;
  const entries = values.flatMap((value) => (value ?? []) as Entries);
  if (merge === 'joined') return entries;
  return 'oldestFirst' in merge ? sorted(entries, merge.oldestFirst) : sorted(entries, merge.newestFirst).toReversed();
}

/**
 * One answer of those of all nodes that have answered: their lists together, and `unreachable` with the others. An error
 * is the answer when no node has given another one.
 */
export function mergeAnswers(
  name: RequestName,
  request: object,
  answers: readonly NodeAnswer[],
  unreachable: readonly Unreachable[],
): RoutedReply['reply'] {
  const good = answers.filter(({ reply }) => !('error' in reply));
  const [first] = answers;
  if (good.length === 0 && first) return first.reply;
  const rest = unreachable.length > 0 ? { unreachable } : {};
  const merged = name === 'list_commands' ? mergePages(good as never, request) : mergeLists(name, good);
  return { ...merged, ...rest } as unknown as RoutedReply['reply'];
}

function mergeLists(name: RequestName, answers: readonly NodeAnswer[]): Fields {
  const { merged = {} }: RequestEntry = requests[name];
  const valuesOf = (field: string) => answers.map(({ reply }) => (reply as Fields)[field]);
  return Object.fromEntries(
    Object.entries(merged).map(([field, merge]) => [field, mergedValue(merge, valuesOf(field))]),
  );
}

/**
 * Asks all nodes at once, and makes one answer of theirs.
 * @param relay has a node answer the request
 */
export async function askAll(
  nodes: readonly SessionNode[],
  received: ReceivedRequest,
  relay: Relay,
): Promise<RoutedReply> {
  const asked = nodes.flatMap((node) => {
    const own = ownPart(received, node.name);
    return own ? [{ node, ...own }] : [];
  });
  const answers: readonly Gathered[] = await Promise.all(
    asked.map(async ({ node, fields }) => ({
      node: node.name,
      ...(await inTime(node, () => relay(node, received, { fields }))),
    })),
  );
  const isMissing = ({ reply }: NodeAnswer) => 'error' in reply && ABSENCES.has(reply.error.code);
  const unreachable = answers.filter(isMissing).map(({ node, reply }) => ({ node, code: codeOf(reply) }));
  const present = answers.filter((answer) => !isMissing(answer));
  const isRecorded = present.every((answer) => answer.isRecorded);
  return { reply: mergeAnswers(received.name, received.request, present, unreachable), isRecorded };
}

/**
 * Asks all nodes for something that one of them has, and gives the answer of that one: this node first, which knows
 * what it has. The one that has it may take long, such as for a command that it waits for. Undefined without nodes.
 * @param ask has a node answer the request
 */
export async function askOwner(
  nodes: readonly SessionNode[],
  ask: (node: SessionNode) => Promise<RoutedReply>,
): Promise<RoutedReply | undefined> {
  const own = nodes.find(({ isHere }) => isHere);
  const here = own && (await ask(own));
  if (here && !isUnknown(here)) return here;
  const asked = nodes
    .filter(({ isHere }) => !isHere)
    .map((node) => (node.isLive ? ask(node) : Promise.resolve(absent(node))));
  const found = await firstThat(asked, (answer) => !isUnknown(answer));
  if (found) return found;
  const answers = await Promise.all(asked);
  // A node that has not answered may have it.
  return answers.find(({ reply }) => 'error' in reply && ABSENCES.has(reply.error.code)) ?? answers[0] ?? here;
}

const ABSENCES: ReadonlySet<string> = new Set(['NODE_LOST', 'NODE_UNREACHABLE']);

const codeOf = (reply: RoutedReply['reply']): ErrorBody['code'] => ('error' in reply ? reply.error.code : 'INTERNAL');

function isUnknown({ reply }: RoutedReply): boolean {
  if (!('error' in reply)) return 'cancelled' in reply && !reply.cancelled;
  const { code } = reply.error;
  return ABSENCES.has(code) || code.endsWith('_NOT_FOUND') || code === 'NO_RUNNING_COMMAND';
}

/** The answer of a node; of one without a connection, or that takes too long, the error. */
async function inTime(node: SessionNode, ask: () => Promise<RoutedReply>): Promise<RoutedReply> {
  const late = absent(node);
  return node.isLive ? Promise.race([ask(), sleep(GATHER_TIMEOUT_MS, late, { ref: false })]) : late;
}

const absent = ({ name, problem }: SessionNode): RoutedReply => ({
  reply: { error: nodeUnreachable(name, problem ?? 'it has not answered in time').toBody() },
  isRecorded: false,
});

/** The first value that passes the test, as soon as it is there; undefined when none does. */
async function firstThat<T>(promises: readonly Promise<T>[], test: (value: T) => boolean): Promise<T | undefined> {
  const passing = promises.map(async (promise) => {
    const value = await promise;
    if (!test(value)) throw new Error('not this one');
    return value;
  });
  return Promise.any(passing).catch(() => undefined);
}

/** What one node is asked for; undefined when it has no more of the list. */
function ownPart({ name, request }: ReceivedRequest, node: string): { readonly fields?: object } | undefined {
  const { before } = request as Fields;
  if (name !== 'list_commands' || typeof before !== 'string') return {};
  const own = cursorOf(before, node);
  return own === undefined ? undefined : { fields: { before: own } };
}
