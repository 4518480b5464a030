import type { AdapterClient, CommandResult } from '../../client/index.js';
import type { Context } from '../console/context.js';
import { onOneLine, paint } from '../console/style.js';
import type { WarningEntry } from '../../core/warnings.js';
import { showWaits } from './command-terminal.js';

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
 * Prints notes on standard error while a command runs: that its time-out will end it soon, and if standard error is a
 * terminal, that it waits for a confirmation by others, or for input that requires --tty.
 */
export async function showNotes(context: Context, client: AdapterClient, command: HintedCommand): Promise<Disposable> {
  const warning = warnOfTimeout(context, client, command.commandId);
  const hints = context.stderr.isTerminal ? await showHints(context, client, command) : [];
  return {
    [Symbol.dispose]: () => {
      for (const unsubscribe of [warning, ...hints]) unsubscribe();
    },
  };
}

async function showHints(context: Context, client: AdapterClient, command: HintedCommand): Promise<(() => void)[]> {
  const { stderr } = context;
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
  return [
    unsubscribe,
    () => {
      waits[Symbol.dispose]();
    },
  ];
}

/** Finds the first program of a command that reads typed input; undefined when there is none. */
async function readsTyping([command, ...args]: HintedCommand['words']): Promise<string | undefined> {
  const [{ inspect }, { factsOfFreshShell }] = await Promise.all([
    import('../../core/policy/analysis/inspect.js'),
    import('../../core/policy/model.js'),
  ]);
  const facts = factsOfFreshShell('/', { typing: { input: true, screen: false } });
  const { commands } = inspect({ command, ...(args.length > 0 && { args }) }, facts);
  return commands.find(({ typed, program, isFed }) => typed !== undefined || (program === 'read' && isFed !== true))
    ?.program;
}

/** Warns on standard error, terminal or not, that the time-out of the command will end it soon. */
export const warnOfTimeout = ({ stderr }: Context, client: AdapterClient, commandId: string): (() => void) =>
  client.on('resource_warning', ({ command_id: id, resource, limit, observed }) => {
    if (id !== commandId || resource !== 'timeout_seconds') return;
    const left = Math.max(0, Math.round(limit - observed));
    const line = `shell-adapter: the time-out of ${limit} s ends the command in ${left} s; --timeout gives it more\n`;
    void stderr.write(paint(stderr, 'yellow', line));
  });

/** Longest warning, in characters. */
const MAX_WARNING = 500;

/** Prints what has ended a command before its time, and the warnings of its result, each on a line of standard error. */
export async function printEndNotes({ stderr }: Context, result: CommandResult): Promise<void> {
  const end = await describeEnd(result);
  if (end !== undefined) await stderr.write(`shell-adapter: ${end}\n`);
  if (result.warnings.length === 0) return;
  const { COMMAND_WARNINGS, SESSION_WARNINGS } = await import('../../core/warnings.js');
  const entries: Readonly<Record<string, WarningEntry>> = { ...COMMAND_WARNINGS, ...SESSION_WARNINGS };
  for (const { code, message } of result.warnings) {
    if (!stderr.isTerminal && entries[code]?.printed === 'on_terminal') continue;
    await stderr.write(paint(stderr, 'yellow', `shell-adapter: ${onOneLine(message, MAX_WARNING)}\n`));
  }
}

/** What has ended a command, when neither itself nor this program has. */
async function describeEnd({ timed_out: isLate, limit, killed_by: by, duration_ms: ms }: CommandResult) {
  if (isLate) return `the command ran into its time-out and was ended after ${(ms / 1000).toFixed(1)} s`;
  if (by === 'shutdown') return 'ended: the daemon was stopped';
  if (by === 'client') return 'ended: by a client, or with its session';
  if (limit === null) return undefined;
  const { RESOURCE_NAMES } = await import('../../core/limits.js');
  const { name, unit } = RESOURCE_NAMES[limit.resource];
  const amount = (value: number) => `${Math.round(value * 10) / 10}${unit}`;
  return limit.resource === 'disk_free_mb'
    ? `ended: ${name} fell to ${amount(limit.observed)}, below ${amount(limit.limit)}`
    : `ended: ${name} limit ${amount(limit.limit)} reached (peak ${amount(limit.peak)})`;
}
