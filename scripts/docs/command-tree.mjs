// The subcommands with their options and help texts, for the pages that list them.
import { createProgram } from '../../dist/cli/subcommands.js';

/** Options that at least so many subcommands share are described once. */
const MIN_SHARING = 5;

/** The command line, and the array that takes the texts which it prints. */
export function openProgram() {
  const printed = [];
  return { program: createProgram(contextFor(printed)), printed };
}

/** The environment of a command line that only prints its help. */
const contextFor = (printed) => {
  const output = { size: undefined, isTerminal: false, isColoured: false, write: (text) => void printed.push(text) };
  return { programName: 'shell-adapter', version: '', env: {}, cwd: '/', stdout: output, stderr: output };
};

/** The commands below a program, each with its words; groups stand before their commands. */
export function listCommands(parent, prefix = '') {
  const children = parent.commands.filter((command) => command.name() !== 'help');
  return children.flatMap((command) => {
    const words = `${prefix}${command.name()}`;
    return [{ words, command }, ...listCommands(command, `${words} `)];
  });
}

/** A text that is equal for options with the same flags and meaning. */
export const keyOf = ({ flags, description }) => `${flags} ${description}`;

/** The options of a command that its help shows. */
export const optionsOf = (command) => command.options.filter(({ hidden }) => !hidden);

/** Options that many commands share, by flags and description; for flags with several descriptions, the most frequent one. */
export function findShared(commands) {
  const counts = new Map();
  for (const option of commands.flatMap(({ command }) => optionsOf(command))) {
    const key = keyOf(option);
    counts.set(key, { option, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  const often = [...counts].filter(([, { count }]) => count >= MIN_SHARING).sort(([, a], [, b]) => b.count - a.count);
  const flags = often.map(([, { option }]) => option.flags);
  return new Map(
    often.filter((_, index) => flags.indexOf(flags[index]) === index).map(([key, { option }]) => [key, option]),
  );
}

/** The text that `--help` prints after the options: examples, notes, exit codes. */
export function helpAfter(command, printed) {
  printed.length = 0;
  command.outputHelp();
  const text = printed.join('');
  return text.slice(command.helpInformation().length).trim();
}
