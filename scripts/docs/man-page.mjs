// man/shell-adapter.1: the manual page of the command line, from its own help.
import { findShared, helpAfter, keyOf, listCommands, openProgram, optionsOf } from './command-tree.mjs';

/** Renders the page in the macros of man(7). */
export function renderManPage() {
  const { program, printed } = openProgram();
  const commands = listCommands(program);
  const shared = findShared(commands);
  return `${[
    '.\\" Generated from src/cli by `npm run docs`. Change it there.',
    '.TH SHELL-ADAPTER 1 "" shell-adapter "User Commands"',
    '.SH NAME',
    `shell-adapter \\- ${roff(lowerFirst(program.description()).replace(/\.$/, ''))}`,
    '.SH SYNOPSIS',
    '.B shell-adapter',
    '.RI [ options ]\n.I command\n.RI [ arguments ]',
    '.SH DESCRIPTION',
    roff(program.description()),
    'Its requests, its configuration and its operation are described in the documentation of the package.',
    '.SH OPTIONS',
    ...renderOptions(optionsOf(program)),
    '.SS "Options of most commands"',
    ...renderOptions([...shared.values()]),
    '.SH COMMANDS',
    ...commands.flatMap((entry) => renderCommand(entry, shared, printed)),
    '.SH NOTES',
    ...renderVerbatim(helpAfter(program, printed)),
    '.SH SEE ALSO',
    '.BR bash (1),\n.BR bwrap (1),\n.BR systemd.service (5)',
  ].join('\n')}\n`;
}

function renderCommand({ words, command }, shared, printed) {
  const own = optionsOf(command).filter((option) => !shared.has(keyOf(option)));
  const help = helpAfter(command, printed);
  return [
    `.SS "${roff(`${words} ${command.usage()}`)}"`,
    roff(command.description()),
    ...command.registeredArguments.flatMap((argument) => renderEntry(argument.name(), describe(argument))),
    ...renderOptions(own),
    ...(help === '' ? [] : renderVerbatim(help)),
  ];
}

const renderOptions = (options) => options.flatMap((option) => renderEntry(option.flags, describe(option)));

const renderEntry = (term, text) => ['.TP', `.B ${roff(term)}`, roff(text)];

/** Text whose lines and blanks stay as they are. */
const renderVerbatim = (text) => ['.PP', '.EX', ...text.split('\n').map(roff), '.EE'];

const describe = ({ description, argChoices, defaultValue, defaultValueDescription, negate }) =>
  [
    `${description}${argChoices ? `: ${argChoices.join(', ')}` : ''}`,
    ...(negate || defaultValue === undefined
      ? []
      : [`(default: ${defaultValueDescription ?? JSON.stringify(defaultValue)})`]),
  ].join(' ');

/** Text without anything that troff would read as a request or an escape. Source: groff_man_style(7). */
const roff = (text) =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('"', '\\(dq')
    .replaceAll(/^(?=[.'])/gm, '\\&');

const lowerFirst = (text) => text.charAt(0).toLowerCase() + text.slice(1);
