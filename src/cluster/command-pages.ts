import type { Answer, Request } from '../core/protocol/requests.js';

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
export function mergePages(
  pages: readonly CommandPage[],
  { limit = DEFAULT_LIMIT }: Pick<Request<'list_commands'>, 'limit'>,
) {
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

/** The cursor of a node behind what was taken of its page. */
function cursorBehind(rest: Rest): string | null {
  const head = headOf(rest);
  return head ? String(head.number + 1) : rest.next;
}
