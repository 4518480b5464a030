import type { AdapterClient } from '../../client/index.js';
import type { Context } from '../console/context.js';
import { paint } from '../console/style.js';
import { showWaits } from '../terminal/waiting-notes.js';

/** A command for which hints are printed. */
interface HintedCommand {
  /** Shell text, or a program and its arguments. */
  readonly words: readonly [string, ...string[]];
  readonly commandId: string;
  readonly session?: string | undefined;
  readonly tty?: boolean | undefined;
  /** False when standard input is not read. */
  readonly stdin: boolean;
}

/**
 * Prints hints on standard error, if it is a terminal: that the command waits for a confirmation by others, or for
 * input that requires --tty.
 */
export async function showHints(context: Context, client: AdapterClient, command: HintedCommand): Promise<Disposable> {
  const { stderr } = context;
  if (!stderr.isTerminal) return { [Symbol.dispose]: () => undefined };
  const { commandId, session, tty } = command;
  const note = (text: string) => void stderr.write(paint(stderr, 'dim', `shell-adapter: ${text}\n`));
  let hasHinted = false;
  const hint = (text: string) => {
    if (!hasHinted) note(text);
    hasHinted = true;
  };
  // Without a terminal and with empty input, no event reports that the command reads.
  if (context.stdin.isTTY && command.stdin && tty !== true && session === undefined) {
    const program = await readsTyping(command.words);
    if (program !== undefined) hint(`${program} reads from the terminal: run it with --tty to type into it`);
  }
  const waits = showWaits(client, { isOwn: ({ command_id: id }) => id === commandId, note });
  const unsubscribe = client.on('awaiting_input', ({ command_id: id }) => {
    if (id === commandId) hint('the command waits for input: run it with --tty to type into it');
  });
  return {
    [Symbol.dispose]: () => {
      waits[Symbol.dispose]();
      unsubscribe();
    },
  };
}

/** Finds the first program of a command that reads typed input; undefined when there is none. */
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
