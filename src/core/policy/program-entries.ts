import { COMMAND_CLASSES, type CommandClass, type TypingProgram } from './model.js';
import type { EffectClass } from './effects.js';
import type { OptionSpec, ProgramSpec, WordRule } from './subject/program-spec.js';
import { type OperandRoles, type Role, ROLES } from './subject/roles.js';
import type {
  DirectoryChange,
  KnownOutput,
  ListedNames,
  ListedPlaces,
  ProgramTrait,
} from './words/program-knowledge.js';
import { type KnownWords, type Takes, typedWhen } from './typed-input.js';

/*
 * What the policy knows about programs is text in the notation that `docs/develop/add-a-program.md` describes: a line for
 * the names, their class and reason, below it a line for each fact, and subcommands in the same form.
 */

/** What an entry cannot say in its own lines; its lines name these functions. */
export interface EntryRules {
  /** `rule NAME` */
  readonly judges?: Readonly<Record<string, NonNullable<ProgramSpec['judge']>>>;
  /** Further roles of words. */
  readonly roles?: Readonly<Record<string, Role>>;
  /** `typed … rule NAME` */
  readonly typed?: Readonly<Record<string, Takes>>;
  /** `prints NAME`: the output, where it follows from the arguments. */
  readonly prints?: Readonly<Record<string, KnownOutput>>;
  /** `lists NAME`: samples of the names of files in the output. */
  readonly lists?: Readonly<Record<string, ListedNames>>;
  /** `finds NAME`: the directories below which the files are that the output names. */
  readonly finds?: Readonly<Record<string, ListedPlaces>>;
  /** `enters NAME`: the directory of the shell afterwards. */
  readonly enters?: Readonly<Record<string, DirectoryChange>>;
}

/** A program that runs another program, given in its arguments. */
export interface WrapperSpec {
  /** Class of the wrapper's own effect, beyond the program it runs. */
  readonly class: CommandClass;
  readonly reason?: string;
  readonly options?: Readonly<Record<string, OptionSpec>>;
  /** Number of operands before the command. */
  readonly skips?: number;
  /** The skipped operands are names of files that it creates; numbers are file descriptors. */
  readonly writesSkipped?: boolean;
  /** `NAME=value` may precede the command. */
  readonly takesVariables?: boolean;
  /** A lone dash before the command is an option. */
  readonly takesDash?: boolean;
  /** The words are joined and interpreted by a shell. */
  readonly isJoined?: boolean;
  /** The words after an option with a command text belong to that text. */
  readonly continuesText?: boolean;
  /** It appends words from its input or another source. */
  readonly addsWords?: boolean;
  /** Words after a match are added inputs, not part of the command. */
  readonly inputsBehind?: RegExp;
  /** The command runs in an unknown directory. */
  readonly isElsewhere?: boolean;
  /** Its input is sent to another machine. */
  readonly sendsInput?: boolean;
  /** Without a command, a shell runs its input. */
  readonly runsInput?: boolean;
  /** Without a command, its redirections apply to the shell itself. */
  readonly redirectsShell?: boolean;
  /** Class of its effect without a command. */
  readonly bare?: CommandClass;
  /** Options may follow operands, and none of these is a command. */
  readonly hasNoCommand?: boolean;
  /** Options that make it run the command in another directory. */
  readonly changesDirectory?: readonly string[];
  /** Options with which it runs no command. */
  readonly asks?: readonly string[];
}

export interface ProgramEntry {
  readonly spec?: ProgramSpec;
  readonly wrapper?: WrapperSpec;
  readonly typing?: TypingProgram;
  /** Arguments, separated by one blank, for which a program that changes the machine only shows its state. */
  readonly showing?: RegExp;
  /** Program that a subcommand is: `docker compose` is `docker-compose`. */
  readonly sameAs?: string;
  readonly traits: readonly ProgramTrait[];
  readonly prints?: KnownOutput;
  readonly lists?: ListedNames;
  readonly finds?: ListedPlaces;
  readonly enters?: DirectoryChange;
}

/** The entries of a text: by label, which is a name, or a name and a subcommand or option, separated by a blank. */
export interface ProgramEntries {
  readonly entries: ReadonlyMap<string, ProgramEntry>;
  /** Commands with the class that they have in a fresh shell in the workspace, on a terminal. */
  readonly examples: readonly { readonly command: string; readonly class: CommandClass }[];
  /** The labels that one line names. */
  readonly groups: readonly (readonly string[])[];
}

interface Line {
  readonly text: string;
  readonly number: number;
  readonly indent: number;
  readonly inner: Line[];
  /** What it says, if it is a fact or the head of an entry: lines are included by many others, and read once. */
  readonly fact: RegExpExecArray | null;
  readonly head: RegExpExecArray | null;
}

const EFFECT = `(${COMMAND_CLASSES.join('|')}|fatal)`;
const HEAD = new RegExp(`^(.+?)(?: <([a-z. -]+)>)?:(?: ${EFFECT}(?: (.+))?)?$`);
const FACT =
  /^(like|rule|stops|bundled|unknown|writes|runs|is|typed|shows|when|prints|lists|finds|enters|e\.g\.)(?: (.+))?$/;
const OPTIONS = new RegExp(
  `^(-\\S+(?: -\\S+)*)(?: (=\\??) ([a-z-]+))?( last)?(?: <([a-z. -]+)>)?(?: ! ${EFFECT}(?: (.+?))?)?(?: unless (/.+/i?))?$`,
);
const EQUIVALENT = /^([^-]\S*(?: \S+)*) is (\*|\S+)$/;
const WHEN = new RegExp(`^(no )?(operand|process|input(?: named| fetched)?|(input )?(/.+/i?)) ! ${EFFECT} (.+)$`);

/** Reads the entries of a text. Throws an error with the number of the line that it cannot read. */
export function readEntries(text: string, rules: EntryRules = {}): ProgramEntries {
  return new EntryReader(rules).read(linesOf(text));
}

function linesOf(text: string): readonly Line[] {
  const top: Line[] = [];
  const open: Line[] = [];
  const joined = text.replaceAll(/ \\\n *(?=\S)/g, '\0');
  let number = 1;
  for (const raw of joined.split('\n')) {
    const content = raw.trim().replaceAll('\0', ' ');
    const fact = FACT.exec(content);
    const head = fact || !content.includes(':') ? null : HEAD.exec(content);
    const line: Line = { text: content, number, indent: raw.search(/\S/), inner: [], fact, head };
    number += raw.split('\0').length;
    if (line.text === '' || line.text.startsWith('#')) continue;
    while ((open.at(-1)?.indent ?? -1) >= line.indent) open.pop();
    (open.at(-1)?.inner ?? top).push(line);
    open.push(line);
  }
  return top;
}

/** A pattern as it is written in TypeScript: `/…/` or `/…/i`. */
function patternIn(text: string): RegExp {
  const end = text.lastIndexOf('/');
  return new RegExp(text.slice(1, end), text.slice(end + 1));
}

interface Draft {
  readonly options: Record<string, OptionSpec>;
  readonly subcommands: Record<string, ProgramSpec>;
  readonly words: WordRule[];
  readonly spec: { -readonly [K in keyof ProgramSpec]?: ProgramSpec[K] };
  /** What the entry says of all its names, or of some of them. */
  readonly facts: { readonly fact: Partial<ProgramEntry>; readonly names: readonly string[] | undefined }[];
  runs?: Partial<WrapperSpec>;
}

/** Facts that `like` includes. */
const INCLUDED: ReadonlySet<string> = new Set(['rule', 'stops', 'when', 'bundled', 'unknown', 'writes']);

class EntryReader {
  readonly #rules: EntryRules;
  readonly #entries = new Map<string, ProgramEntry>();
  readonly #examples: ProgramEntries['examples'][number][] = [];
  readonly #groups: (readonly string[])[] = [];
  /** Specs of subcommands by their lines, with the operands of the program around them. */
  readonly #specs = new Map<Line, { readonly outer: string; readonly spec: ProgramSpec }>();
  readonly #lines = new Map<string, Line>();

  constructor(rules: EntryRules) {
    this.#rules = rules;
  }

  read(lines: readonly Line[]): ProgramEntries {
    for (const line of lines) {
      const [, names = ''] = line.head ?? fail(line, 'is no head of an entry: NAMES <OPERANDS>: CLASS REASON');
      for (const name of names.split(' ')) this.#lines.set(name, line);
      // Lines that others include, and no program.
      if (!names.startsWith('%')) this.#readEntry(line, names.split(' '), 'read');
    }
    return { entries: this.#entries, examples: this.#examples, groups: this.#groups };
  }

  /** Reads an entry, records it under its labels, and returns what a program needs of its subcommand. */
  #readEntry(line: Line, labels: readonly string[], outerRoles: string): ProgramSpec | undefined {
    const [, , operands = outerRoles, effectClass, reason] = line.head ?? [];
    const roles = this.#operandsIn(line, operands);
    const draft: Draft = { options: {}, subcommands: {}, words: [], spec: {}, facts: [] };
    for (const inner of this.#withIncluded(line)) this.#readLine(inner, draft, labels, operands);
    const effect = {
      class: effectClass as CommandClass,
      ...(reason !== undefined && { reason }),
      options: draft.options,
    };
    if (draft.runs) {
      this.#record(line, labels, draft, { wrapper: { ...effect, ...draft.runs } });
      return undefined;
    }
    const spec = effectClass === undefined ? undefined : specOf(effect, roles, draft);
    if (labels[0]?.includes(' ') === false) this.#record(line, labels, draft, { ...(spec && { spec }) });
    return spec;
  }

  #record(line: Line, labels: readonly string[], { facts }: Draft, entry: Partial<ProgramEntry>): void {
    this.#groups.push(labels);
    for (const label of labels) {
      if (this.#entries.has(label)) fail(line, `is a second entry of ${label}`);
      const own = facts.flatMap(({ fact, names }) => (names?.includes(label) === false ? [] : fact));
      const traits = own.flatMap((fact) => fact.traits ?? []);
      this.#entries.set(label, Object.assign({}, ...own, entry, { traits }) as ProgramEntry);
    }
  }

  /** The lines of an entry. In place of `like` stand the options, rules and subcommands of another one. */
  #withIncluded(entry: Line, outer: readonly Line[] = []): readonly Line[] {
    const open = [...outer, entry];
    return entry.inner.flatMap((line) => {
      const [, fact, name = ''] = line.fact ?? [];
      if (fact !== 'like') return [line];
      const [program = '', ...path] = name.split(' ');
      const found = path.reduce<Line | undefined>(
        (place, word) => place?.inner.find(({ head }) => head?.[1]?.split(' ').includes(word)),
        this.#lines.get(program),
      );
      if (!found) return fail(line, `names no entry that stands before it: ${name}`);
      if (open.includes(found)) return fail(line, 'includes itself');
      const included = this.#withIncluded(found, open);
      if (program.startsWith('%')) return included;
      return included.filter(({ text, fact: own, inner: below }) => {
        const [, kind = 'rule'] = own ?? [];
        const isOther = !INCLUDED.has(kind) || EQUIVALENT.test(text);
        return !isOther && !below.some((each) => /^runs\b/.test(each.text));
      });
    });
  }

  #readLine(line: Line, draft: Draft, labels: readonly string[], operands: string): void {
    const { text } = line;
    const [, fact, rest = ''] = line.fact ?? [];
    if (fact !== undefined) this.#readFact(line, draft, fact, rest);
    else if (line.head) this.#readSubcommands(line, draft, labels, operands);
    else if (text.startsWith('-')) this.#readOptions(line, draft.options);
    else if (EQUIVALENT.test(text)) this.#readEquivalent(line, labels);
    else fail(line, 'is neither an option, nor a subcommand with its class, nor a fact');
  }

  #readOptions(line: Line, options: Record<string, OptionSpec>): void {
    const [, names = '', sign, value, last, operands, effect, reason, harmless] =
      OPTIONS.exec(line.text) ?? fail(line, 'is not: OPTIONS = VALUE last <OPERANDS> ! CLASS REASON unless /PATTERN/');
    const spec: OptionSpec = {
      ...(value !== undefined && { value: this.#roleOf(line, value) }),
      ...(sign === '=?' && { isAttached: true }),
      ...(last !== undefined && { isLast: true }),
      ...(operands !== undefined && { operands: this.#operandsIn(line, operands) }),
      ...(effect !== undefined && { class: effect as EffectClass }),
      ...(reason !== undefined && { reason }),
      ...(harmless !== undefined && { harmless: patternIn(harmless) }),
    };
    for (const name of names.split(' ')) options[name] = spec;
  }

  #roleOf(line: Line, name: string): Role {
    const roles: Readonly<Record<string, Role>> = { ...ROLES, ...this.#rules.roles };
    return roles[name] ?? fail(line, `has a role that is none of ${Object.keys(roles).join(', ')}`);
  }

  /** Roles of operands, separated by blanks; the one before an ellipsis, or else the last one, is that of all others. */
  #operandsIn(line: Line, text: string): OperandRoles {
    const names = text.split(' ');
    const marked = names.findIndex((name) => name.endsWith('...'));
    const at = marked === -1 ? names.length - 1 : marked;
    const roles = names.map((name) => this.#roleOf(line, name.replace('...', '')));
    return { first: roles.slice(0, at), others: roles[at] ?? ROLES.read, last: roles.slice(at + 1) };
  }

  #readSubcommands(line: Line, draft: Draft, labels: readonly string[], operands: string): void {
    const names = line.head?.[1]?.split(' ') ?? [];
    const spec = this.#specOf(line, labels, names, operands);
    if (spec) for (const name of names) draft.subcommands[name] = spec;
  }

  /** Reads a subcommand. One that adds no entries of its own is the same wherever its line is included. */
  #specOf(line: Line, labels: readonly string[], names: readonly string[], operands: string): ProgramSpec | undefined {
    const known = this.#specs.get(line);
    if (known?.outer === operands) return known.spec;
    const { size } = this.#entries;
    const inner = labels.flatMap((label) => names.map((name) => `${label} ${name}`));
    const spec = this.#readEntry(line, inner, operands);
    if (spec && this.#entries.size === size) this.#specs.set(line, { outer: operands, spec });
    return spec;
  }

  /** `compose is docker-compose`, or `container is *` where it is the program itself. */
  #readEquivalent(line: Line, labels: readonly string[]): void {
    const [, names = '', same = ''] = EQUIVALENT.exec(line.text) ?? [];
    for (const label of labels)
      for (const name of names.split(' '))
        this.#entries.set(`${label} ${name}`, { traits: [], sameAs: same === '*' ? label : same });
  }

  #readFact(line: Line, draft: Draft, fact: string, rest: string): void {
    if (fact === 'rule') draft.spec.judge = this.#ruleOf(line, 'judges', rest);
    else if (fact === 'typed')
      draft.facts.push(factOfSome(rest, (text) => ({ typing: this.#typingIn(line, text, draft) })));
    else if (fact === 'e.g.') this.#examples.push(...rest.split('; ').map((example) => exampleIn(line, example)));
    else if (isNamed(fact)) draft.facts.push(factOfSome(rest, (name) => ({ [fact]: this.#ruleOf(line, fact, name) })));
    else FACTS[fact]?.(draft, rest, line);
  }

  #ruleOf<K extends keyof EntryRules>(line: Line, kind: K, name: string): NonNullable<EntryRules[K]>[string] {
    const rules: Readonly<Record<string, unknown>> = this.#rules[kind] ?? {};
    return (rules[name] ?? fail(line, `names a rule that is not there: ${name}`)) as NonNullable<EntryRules[K]>[string];
  }

  /** `code|shell [on terminal|screen] HOW`. */
  #typingIn(line: Line, text: string, known: KnownWords): TypingProgram {
    const [, language, reads = 'input', how = ''] =
      /^(code|shell)(?: on (terminal|screen))? (.+)$/.exec(text) ?? fail(line, 'is not: typed code|shell [on …] HOW');
    const [, name] = /^rule (.+)$/.exec(how) ?? [];
    const takes = name === undefined ? typedWhen(how) : this.#ruleOf(line, 'typed', name);
    if (!takes) return fail(line, `has an unknown condition for typed input: ${how}`);
    return { language: language as 'code', reads: reads as 'input', takes: (args) => takes(args, known) };
  }
}

const FACTS: Readonly<Record<string, (draft: Draft, rest: string, line: Line) => void>> = {
  stops: (draft) => {
    draft.spec.stopsAtOperand = true;
  },
  bundled: (draft) => {
    draft.spec.isBundled = true;
  },
  unknown: (draft, rest, line) => {
    const [, words] =
      /^words are ((?:quoted )?operands)$/.exec(rest) ??
      fail(line, 'is not: unknown words are operands, or quoted operands');
    draft.spec.unknownWords = words as 'operands';
  },
  writes: (draft, rest) => {
    draft.spec.writes = rest;
  },
  runs: (draft, rest, line) => {
    draft.runs = wrapperIn(line, rest);
  },
  shows: (draft, rest, line) => {
    draft.facts.push(factOfSome(rest, (text) => ({ showing: showingIn(line, text) })));
  },
  when: (draft, rest, line) => {
    draft.words.push(wordRuleIn(line, rest));
  },
  is: (draft, rest) => {
    draft.facts.push(factOfSome(rest, (text) => ({ traits: text.split(' ') as ProgramTrait[] })));
  },
};

/** A fact about all names of an entry, or about those that follow `of`. */
function factOfSome(text: string, read: (fact: string) => Partial<ProgramEntry>): Draft['facts'][number] {
  const [fact = '', names] = text.split(' of ');
  return { fact: read(fact), names: names?.split(' ') };
}

const isNamed = (fact: string): fact is 'prints' | 'lists' | 'finds' | 'enters' =>
  /^(?:prints|lists|finds|enters)$/.test(fact);

/** `COMMAND: CLASS` */
function exampleIn(line: Line, text: string): ProgramEntries['examples'][number] {
  const [, command = '', name] =
    /^(.+): (\w+)$/.exec(text) ?? fail(line, 'is not: e.g. COMMAND: CLASS; COMMAND: CLASS');
  return { command, class: name as CommandClass };
}

function specOf(effect: ProgramSpec, operands: OperandRoles, { subcommands, words, spec }: Draft): ProgramSpec {
  return { ...effect, operands, ...(Object.keys(subcommands).length > 0 && { subcommands }), words, ...spec };
}

/** What `runs` says of the command, separated by commas. */
const RUNNING: Readonly<Record<string, (value: string) => Partial<WrapperSpec>>> = {
  after: (count) => ({ skips: Number(count) }),
  'writes-skipped': () => ({ writesSkipped: true }),
  variables: () => ({ takesVariables: true }),
  dash: () => ({ takesDash: true }),
  joined: () => ({ isJoined: true }),
  'continues-text': () => ({ continuesText: true }),
  'adds-words': () => ({ addsWords: true }),
  'inputs-behind': (pattern) => ({ inputsBehind: patternIn(pattern) }),
  elsewhere: () => ({ isElsewhere: true }),
  'sends-input': () => ({ sendsInput: true }),
  'runs-input': () => ({ runsInput: true }),
  'redirects-shell': () => ({ redirectsShell: true }),
  bare: (name) => ({ bare: name as CommandClass }),
  'no-command': () => ({ hasNoCommand: true }),
  directory: (names) => ({ changesDirectory: names.split(' ') }),
  asks: (names) => ({ asks: names.split(' ') }),
};

function wrapperIn(line: Line, text: string): Partial<WrapperSpec> {
  const parts = text.split(', ').filter((part) => part !== '');
  return Object.assign(
    {},
    ...parts.map((part) => {
      const [name = '', ...value] = part.split(' ');
      return (RUNNING[name] ?? fail(line, `has an unknown word: ${name}`))(value.join(' '));
    }),
  ) as Partial<WrapperSpec>;
}

/** Sources of patterns for an operand, and for a plain name. */
const PLACEHOLDERS: readonly (readonly [string, string])[] = [
  ['<word>', String.raw`(?!-)\S+`],
  ['<name>', String.raw`[\w@][\w@.:+-]*`],
];

/**
 * `any A | B`: arguments that each match one of the patterns, also none. `first HEADS then A | B`: one of the heads,
 * followed by any of the others. `exactly PATTERN`: all arguments.
 */
function showingIn(line: Line, text: string): RegExp {
  const source = PLACEHOLDERS.reduce((known, [name, pattern]) => known.replaceAll(name, pattern), text);
  const [, any, heads, others, exactly] =
    /^(?:any (.+)|first (.+?) then (.+)|exactly (.*))$/.exec(source) ?? fail(line, 'is not: shows any|first|exactly …');
  const someOf = (patterns: string) => `(?:(?:${patterns.replaceAll(' | ', '|')})(?: |$))*$`;
  if (any !== undefined) return new RegExp(`^${someOf(any)}`);
  return new RegExp(heads === undefined ? `^${exactly ?? ''}$` : `^(?:${heads})(?:$| ${someOf(others ?? '')})`);
}

function wordRuleIn(line: Line, text: string): WordRule {
  const [, isAbsent, condition = '', isFed, pattern, effect, reason = ''] =
    WHEN.exec(text) ?? fail(line, 'is not: when [no] operand|process|input|/PATTERN/ ! CLASS REASON');
  return {
    condition: pattern === undefined ? (condition as 'input') : patternIn(pattern),
    isAbsent: isAbsent !== undefined,
    isFed: isFed !== undefined,
    class: effect as EffectClass,
    reason,
  };
}

function fail({ text, number }: Line, problem: string): never {
  throw new Error(`line ${number} of the programs ${problem}: ${text}`);
}
