import { judgeAssignments } from './assignments.js';
import type { JudgedCommand } from './finding.js';
import type { Inquiry } from './inquiry.js';
import { judgeProgram } from './judge-program.js';
import { findProgram, isBuiltin } from './programs/list.js';
import { plainName } from './program-name.js';
import { judgeRedirects } from './redirects.js';
import { FOREIGN_SHELLS, judgeShell, SHELLS } from './shells.js';
import type { Scope, SimpleCommand } from './simple-command.js';
import { Subject } from './subject.js';
import { judgeWrapper } from './unwrap.js';
import { WRAPPERS } from './wrappers.js';

/** Directories whose programs are what their names say. */
const STANDARD_DIRECTORY = /^(?:\/usr(?:\/local)?|\/opt\/homebrew)?\/s?bin\/[^/]+$/;

/** Judges a simple command: what it sets, the files it opens, and its program. */
export function judgeSimpleCommand(command: SimpleCommand, scope: Scope, inquiry: Inquiry): JudgedCommand {
  const { name } = command;
  const isKnown = name?.value !== undefined && !name.isGlob && !name.isSample && !name.isProcess;
  const program = isKnown ? plainName(name.value) : undefined;
  const subject = new Subject(command, scope, inquiry, program);
  judgeAssignments(subject, command.assignments);
  judgeRedirects(subject, command.redirects);
  if (name && program === undefined) {
    subject.findUnknown(name, 'the program');
    inquiry.noteNamesChange();
  } else if (name && program !== undefined) judgeNamed(subject, name.value ?? '', program);
  return subject.conclude();
}

function judgeNamed(subject: Subject, calledAs: string, program: string): void {
  const { inquiry } = subject;
  const isBare = !calledAs.includes('/');
  if (isBare) judgeOwnName(subject, calledAs);
  const first = subject.args[0]?.value;
  const pair = first === undefined ? undefined : WRAPPERS[`${program} ${first}`];
  if (pair) judgeWrapper(subject, `${program} ${first ?? ''}`, pair, subject.args.slice(1));
  else if (Object.hasOwn(WRAPPERS, program)) judgeWrapper(subject, program, WRAPPERS[program] ?? {});
  else if (SHELLS.has(program) || FOREIGN_SHELLS.has(program)) judgeShell(subject, program);
  else {
    const spec = findProgram(program);
    if (spec) judgeProgram(subject, spec, program);
    else judgeUnknown(subject, program);
  }
  const { facts } = inquiry;
  if (!isBare && !STANDARD_DIRECTORY.test(calledAs)) subject.find('execute', `runs ${calledAs}`);
  else if (isBare && facts.areNamesUnknown) subject.find('execute', `${program} may be an alias or a function`);
  else if (isBare && facts.isPathChanged && !isBuiltin(program))
    subject.find('execute', `${program} may be another program: PATH was changed`);
}

/** A program of no table runs; files it is given are read, as far as one can tell. */
function judgeUnknown(subject: Subject, program: string): void {
  subject.find('execute', `${program} runs`);
  for (const arg of subject.args) if (arg.value?.includes('/') === true) subject.read(arg);
}

/** Aliases and functions come before programs. What they stand for is judged beside the program: neither is milder. */
function judgeOwnName(subject: Subject, name: string): void {
  const { inquiry, scope, command } = subject;
  if (scope.expanding.includes(name)) return;
  const inner = { ...scope, expanding: [...scope.expanding, name], stdin: command.stdin };
  const alias = command.name?.isQuoted === true ? undefined : inquiry.findAlias(name);
  if (alias !== undefined) {
    const next = command.args[0]?.text;
    if (/\s$/.test(alias) && next !== undefined && inquiry.findAlias(next) !== undefined) {
      subject.findBeside('obfuscated', `an alias stands behind an alias: ${name} ${next}`);
    }
    inquiry.judgeText([alias, ...command.args.map(({ text }) => text)].join(' '), inner);
  }
  const body = inquiry.findFunction(name);
  if (body !== undefined && body !== '') inquiry.judgeText(body, inner);
}
