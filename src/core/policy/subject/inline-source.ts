import { kindOf } from '../path-kinds.js';
import { normalizePath, resolvePath } from '../paths.js';
import { type Argument, literal, type Stdin } from '../words/argument.js';
import { interpreterOf } from '../words/written-files.js';
import type { CommandAnalysis } from './command-analysis.js';

/**
 * Words by which a program in one of these languages executes text as code. With an input, that text may come from
 * there.
 */
/** Words with which a program gets code from elsewhere, or decodes it. */
const FETCHES_CODE =
  /\b(?:urlopen|urlretrieve|requests|httpx|fetch|http|https|axios|XMLHttpRequest|LWP|open-uri|b64decode|atob|fromhex|unhexlify|decompress|marshal|decode64|unpack|Buffer\.from|base64_decode|str_rot13)\b/;
/** Words that run a value as code. */
const RUNS_VALUE = /(?<![.\w])(?:exec|eval|Function)\s*\(|then\(\s*eval\b|\.instance_eval\b/;

const EVALUATES = /\b(?:exec|execfile|eval|instance_eval|class_eval|compile|Function|loadstring)\b|(?<![.\w])load\b/;

/**
 * Judges a program that is given whole in the command line, such as the argument of `python3 -c`. Its effects are as
 * unknown as those of a script file, so it is `execute` as well: a reviewer of the command sees its text. It is
 * `obfuscated` when parts of it are substituted at run time, or when it may execute text from its input.
 *
 * @param source undefined when its text is known only at run time
 */
export function judgeSource(subject: CommandAnalysis, source: string | undefined, label: string): void {
  if (source === undefined) subject.does('runs code that is known only at run time', '', label);
  else if (subject.command.stdin !== undefined && EVALUATES.test(source))
    subject.does('may run code that it reads from its input', '', label);
  else if (FETCHES_CODE.test(source) && RUNS_VALUE.test(source))
    subject.does('may run code that it fetches or decodes', '', label);
  else subject.does('runs code from its arguments', '', label);
  if (source !== undefined) judgeVisibleEffects(subject, source);
}

/** Calls with which programs run a shell text that is their first argument. */
const RUNS_TEXT =
  /(?:\b(?:system|exec(?:[vl]p?e?)?|execSync|popen|shell_exec|passthru|getoutput|getstatusoutput|check_output|check_call|Popen|spawn|spawnSync|execFile|execFileSync|run|call|qx|execute|cmd|shell(?:\s+script)?)\s*\(?\s*[fr]?|%x)(?:"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\\n]|\\.)*)`|\(([^()]*)\)|\{([^{}]*)\})/g;
/** Groovy: `"ls".execute()`. */
const EXECUTED_TEXT = /["']([^"'\n]{1,256})["']\.execute\(/g;
/** Calls whose first argument is a list of words, and the list after a first argument. */
const RUNS_LIST = /\b(?:run|call|Popen|check_output|check_call|execvp?e?|spawn\w*|system|exec)\s*\(\s*\[([^\]]*)\]/g;
const LIST = /^\s*,\s*\[([^\]]*)\]/;
/** Words of a program that changes files. */
const CHANGES =
  /\bopen\b[^;\n]*,|\b(?:write|append|create|copy|move|rename|symlink|link|chmod|put_contents|dump|save)\w*/i;
/** How single languages run a text: by backticks, or by a command of their own. */
const BACKTICKS = /`([^`\n]{1,256})`/g;
const TCL = /\b(?:spawn|exec)\s+([^;\n\]]{1,256})/g;
const OWN_CALLS: Readonly<Record<string, RegExp>> = {
  perl: BACKTICKS,
  ruby: BACKTICKS,
  php: BACKTICKS,
  expect: TCL,
  tclsh: TCL,
};
const QUOTED = /"([^"\n]{1,256})"|'([^'\n]{1,256})'|`([^`\n]{1,256})`/g;
/** Most calls and texts that are looked at. */
const MAX_PARTS = 32;

/**
 * Judges what a program in the command line plainly does: shell texts that it runs, credentials that it names, files that
 * run later and that it changes. What it does in other ways stays unknown, as with a script.
 */
export function judgeVisibleEffects(subject: CommandAnalysis, source: string): void {
  const own = OWN_CALLS[subject.program ?? ''];
  const texts = [...textsRunBy(source), ...(own ? [...source.matchAll(own)].map(oneOf) : [])];
  for (const text of texts.slice(0, MAX_PARTS)) judgeRunText(subject, text);
  const mayChange = CHANGES.test(source);
  for (const text of quotedIn(source).slice(0, MAX_PARTS)) judgeNamedFile(subject, text, mayChange);
}

/** The shell texts and lists of words that a program runs. */
function textsRunBy(source: string): readonly string[] {
  const calls = [...source.matchAll(RUNS_TEXT)].map((match) => {
    const list = LIST.exec(source.slice(match.index + match[0].length))?.[1] ?? '';
    return [oneOf(match), ...quotedIn(list)].join(' ');
  });
  const lists = [...source.matchAll(RUNS_LIST)].map((match) => quotedIn(oneOf(match)).join(' '));
  return [...calls, ...lists, ...[...source.matchAll(EXECUTED_TEXT)].map(oneOf)].filter((text) => /\w/.test(text));
}

const oneOf = ([, ...groups]: RegExpMatchArray): string =>
  groups.find((group: string | undefined) => group !== undefined) ?? '';

const quotedIn = (text: string): readonly string[] => [...text.matchAll(QUOTED)].map(oneOf);

/** A text that may be a command: only what certainly matters counts. */
function judgeRunText(subject: CommandAnalysis, text: string): void {
  const words = text.trim().split(/\s+/);
  if (subject.inquiry.programs.isRunnable(words[0] ?? '') || words.length > 1)
    subject.inquiry.judgeText(text.replace(/\\(["'`$])/g, '$1'), { ...subject.scope, stdin: undefined });
}

/** A quoted text that may be the path of a file. */
function judgeNamedFile(subject: CommandAnalysis, text: string, mayChange: boolean): void {
  if (!/^[\w.~/@+-]+$/.test(text) || !/[./]/.test(text)) return;
  const file = literal(text.startsWith('~/') ? `${subject.scope.lookup('HOME')?.value ?? '~'}${text.slice(1)}` : text);
  subject.read(file);
  const kinds = resolvePath(file.value ?? '', subject.scope.directories).map((path) =>
    kindOf(path, subject.inquiry.facts),
  );
  if (mayChange && kinds.some((kind) => kind === 'startup' || kind === 'protected' || kind === 'system'))
    subject.write(file);
}

/** Whether an input is the whole text of a program, such as a quoted here-document. */
export const isWholeText = (stdin: Stdin | undefined): stdin is Extract<Stdin, { kind: 'text' }> =>
  stdin?.kind === 'text' && stdin.isCertain;

/** File names that denote standard input. */
const STDIN_NAMES = new Set(['-', '/dev/stdin', '/dev/fd/0', '/proc/self/fd/0']);

/** A file name that denotes an open file descriptor. */
export const DESCRIPTOR = /^\/(?:dev|proc\/[^/]+)\/fd\//;

export const isInputName = (name: string | undefined): boolean =>
  name !== undefined && STDIN_NAMES.has(name.startsWith('/') ? normalizePath(name, '/') : name);

/** Judges a script that a shell runs, if the same text has written it: by its content, as far as that is known. */
export function judgeWrittenScript(subject: CommandAnalysis, label: string, script: Argument): void {
  const { inquiry, scope } = subject;
  const written = inquiry.written.find(script, scope.directories);
  inquiry.written.noteRun(script, scope.directories);
  if (written?.kind === 'text') inquiry.judgeText(written.text, { ...scope, stdin: undefined });
  else if (written?.kind === 'unknown')
    subject.causes('runs a file that {what}', `${written.by} has written: ${script.text}`, label);
}

/** Judges a program that is called by a path that the same text has written: it may be a copy of another program. */
export function judgeWrittenProgram(subject: CommandAnalysis, program: Argument): void {
  const { inquiry, scope, args } = subject;
  const written = inquiry.written.find(program, scope.directories);
  if (!written) return;
  const interpreter = written.kind === 'text' ? interpreterOf(written.text) : undefined;
  if (written.kind === 'copy') subject.runWords([literal(written.of), ...args]);
  else if (interpreter === undefined || inquiry.programs.has(inquiry.programs.plainName(interpreter), 'shell'))
    judgeWrittenScript(subject, 'the shell', program);
}

/** Sources of unread code: other machines, archives, and encoded or encrypted data. */
const DECODERS =
  /^(?:another machine|another command|several commands|lynx|w3m|links|elinks|telnet|ssh|rclone|kubectl|docker|podman|dig|xxd|gpg2?|openssl|base(?:64|32|nc)|uudecode|tar|unzip|[gbx]?zcat|gunzip|zstd|xz|age|git|nc|ncat|socat|aws|gsutil|gcloud|az|http|https|xh|aria2c|scp|gh|glab)$/;

/** Judges a script in another language, which cannot be analysed here: a script from another machine is unreviewed. */
export function judgeFetchedScript(subject: CommandAnalysis, script: Argument): void {
  const { inquiry, scope } = subject;
  const written = inquiry.written.find(script, scope.directories);
  const isForeign = (by: string) => inquiry.programs.has(by, 'fetches') || DECODERS.test(by);
  if (written?.kind === 'unknown' && isForeign(written.by))
    subject.causes('runs a file that {what}', `${written.by} has written: ${script.text}`);
  else if (written?.kind === 'text') judgeSource(subject, written.text, subject.program ?? 'it');
}

/**
 * A substitution or transliteration that runs no code: no `e` flag, no variables except those of the match, no code in
 * its pattern. Source: perlop(1), perlre(1).
 */
const SUBSTITUTION = /^(?:s|y|tr)([/|,#])(?:(?!\1|\(\?\??\{)[^@$`]|\$(?=\d|\1))*\1(?:(?!\1)[^@$`]|\$\d)*\1[gi]*$/;

/** Prints lines, optionally those that match a pattern. */
const PRINTING = /^print(?: (?:if|unless) \/(?:(?!\(\?\??\{)[^@$`/])*\/i?)?$/;

/** Whether Perl code only edits text. */
export const isTextEditing = (code: string): boolean => {
  const trimmed = code.trim().replace(/;$/, '');
  return [trimmed].every(isHarmless) || trimmed.split(/;\s*/).every(isHarmless);
};

const isHarmless = (code: string): boolean => SUBSTITUTION.test(code) || PRINTING.test(code);
