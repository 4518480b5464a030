// docs/reference/cli.md: every subcommand with its arguments, options and defaults.
import { createProgram } from '../../dist/cli/program.js';
import { markdownTable } from '../../dist/core/markdown.js';
import { code, renderPage } from './page.mjs';

/** Options that at least so many subcommands share are described once. */
const MIN_SHARING = 5;

/** Renders the page. */
export function renderCommandLine() {
  const printed = [];
  const program = createProgram(contextFor(printed));
  const commands = listCommands(program);
  const shared = findShared(commands);
  return renderPage({
    title: 'Command line',
    purpose: 'Every subcommand with its arguments, options and defaults, as `--help` prints them.',
    source: 'src/cli',
    sections: [
      markdownTable(
        ['subcommand', 'what it does'],
        commands.map(({ words, command }) => [`[${code(words)}](#${anchorOf(words)})`, command.summary()]),
      ),
      '## Common options',
      'Every subcommand has `-h, --help`. Most of them have these options too:',
      renderOptions([...shared.values()]),
      ...commands.map((entry) => renderCommand(entry, shared, printed)),
    ],
    next: [
      '[Command line](../guide/command-line.md): examples, and the table of exit codes.',
      '[Configuration](../operate/configuration.md): the options of `serve` as keys.',
    ],
  });
}

/** The environment of a command line that only prints its help. */
const contextFor = (printed) => {
  const output = { size: undefined, isTerminal: false, isColoured: false, write: (text) => void printed.push(text) };
  return { programName: 'shell-adapter', version: '', env: {}, cwd: '/', stdout: output, stderr: output };
};

/** The commands below a program, each with its words; groups stand before their commands. */
function listCommands(parent, prefix = '') {
  const children = parent.commands.filter((command) => command.name() !== 'help');
  return children.flatMap((command) => {
    const words = `${prefix}${command.name()}`;
    return [{ words, command }, ...listCommands(command, `${words} `)];
  });
}

const anchorOf = (words) => words.replaceAll(' ', '-');
const keyOf = ({ flags, description }) => `${flags} ${description}`;
const optionsOf = (command) => command.options.filter(({ hidden }) => !hidden);

/** Options that many commands share, by flags and description; for flags with several descriptions, the most frequent one. */
function findShared(commands) {
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

function renderCommand({ words, command }, shared, printed) {
  const options = optionsOf(command);
  const own = options.filter((option) => !shared.has(keyOf(option)));
  const common = options.filter((option) => shared.has(keyOf(option)));
  const help = helpAfter(command, printed);
  return [
    `## ${code(words)}`,
    command.description(),
    `\`\`\`text\nshell-adapter ${words} ${command.usage()}\n\`\`\``,
    ...(command.registeredArguments.length > 0 ? [renderArguments(command.registeredArguments)] : []),
    ...(own.length > 0 ? [renderOptions(own)] : []),
    ...(common.length > 0 ? [`Common options: ${common.map(({ long }) => code(long)).join(', ')}.`] : []),
    ...(help === '' ? [] : [`\`\`\`text\n${help}\n\`\`\``]),
  ].join('\n\n');
}

const renderArguments = (rows) =>
  markdownTable(
    ['argument', 'required', 'meaning'],
    rows.map((argument) => [
      code(argument.variadic ? `${argument.name()}...` : argument.name()),
      argument.required ? 'yes' : '',
      describe(argument),
    ]),
  );

/** A table of options; the column of defaults is left out when it would be empty. */
function renderOptions(options) {
  const rows = options.map((option) => [code(option.flags), describe(option), defaultOf(option)]);
  return rows.some(([, , value]) => value !== '')
    ? markdownTable(['option', 'meaning', 'default'], rows)
    : markdownTable(
        ['option', 'meaning'],
        rows.map((row) => row.slice(0, 2)),
      );
}

/** The default of an option; empty without one. `--no-x` switches off what is on by default. */
const defaultOf = ({ negate, defaultValue, defaultValueDescription, mandatory }) =>
  mandatory
    ? 'required'
    : negate || defaultValue === undefined
      ? ''
      : code(defaultValueDescription ?? JSON.stringify(defaultValue));

const describe = ({ description, argChoices }) =>
  argChoices ? `${description}: ${argChoices.map(code).join(', ')}` : description;

/** The text that `--help` prints after the options: examples, notes, exit codes. */
function helpAfter(command, printed) {
  printed.length = 0;
  command.outputHelp();
  const text = printed.join('');
  return text.slice(command.helpInformation().length).trim();
}
