import type { AdapterClient } from '../../client/index.js';
import type { Context } from '../console/context.js';
import { paint } from '../console/style.js';
import { showWaits } from '../terminal/waiting-notes.js';

/** The command that hints are given about. */
interface HintedCommand {
  /** Shell text, or a program and its arguments. */
  readonly words: readonly [string, ...string[]];
  readonly commandId: string;
  readonly session?: string | undefined;
  readonly tty?: boolean | undefined;
  /** False when standard input is not to be read. */
  readonly stdin: boolean;
}

/**
 * Tells a person at the terminal, on standard error, what the command waits for: a confirmation by others, or input that cannot come
 * without --tty.
 */
export async function showHints(
  { stdin, stderr }: Context,
  client: AdapterClient,
  command: HintedCommand,
): Promise<Disposable> {
  if (!stderr.isTerminal) return { [Symbol.dispose]: () => undefined };
  const { commandId, session, tty } = command;
  const note = (text: string) => void stderr.write(paint(stderr, 'dim', `shell-adapter: ${text}\n`));
  let hasHinted = false;
  const hint = (text: string) => {
    if (!hasHinted) note(text);
    hasHinted = true;
  };
  // No event comes when it reads: it has no terminal, and its input is empty.
  if (stdin.isTTY && command.stdin && tty !== true && session === undefined) {
    const program = await readsTyping(command.words);
    if (program !== undefined) hint(`${program} reads from the terminal: run it with --tty to type into it`);
  }
  const waits = showWaits(client, { isOwn: ({ command_id: id }) => id === commandId, note });
  const forget = client.on('awaiting_input', ({ command_id: id }) => {
    if (id === commandId) hint('the command waits for input: run it with --tty to type into it');
  });
  return {
    [Symbol.dispose]: () => {
      waits[Symbol.dispose]();
      forget();
    },
  };
}

/** The first program of a command that would read what is typed; undefined when there is none. */
async function readsTyping([command, ...args]: HintedCommand['words']): Promise<string | undefined> {
  const [{ inspect }, { factsOfFreshShell }] = await Promise.all([
    import('../../core/policy/analysis/inspect.js'),
    import('../../core/policy/model/facts.js'),
  ]);
  const facts = factsOfFreshShell('/', { typing: { input: true, screen: false } });
  const { commands } = inspect({ command, ...(args.length > 0 && { args }) }, facts);
  return commands.find(({ typed, program, isFed }) => typed !== undefined || (program === 'read' && isFed !== true))
    ?.program;
}
