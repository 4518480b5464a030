// docs/reference/cli.md: every subcommand with its arguments, options and defaults.
import { markdownTable } from '../../dist/core/markdown.js';
import { findShared, helpAfter, keyOf, listCommands, openProgram, optionsOf } from './command-tree.mjs';
import { code, renderPage } from './page.mjs';

/** Renders the page. */
export function renderCommandLine() {
  const { program, printed } = openProgram();
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

const anchorOf = (words) => words.replaceAll(' ', '-');

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
