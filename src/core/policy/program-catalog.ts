import type { ProgramFamily, WrapperSpec } from './program-family.js';
import type { TypingProgram } from './model.js';
import type { ProgramPlaces } from './path-kinds.js';
import { compilePatterns } from './path-patterns.js';
import { baseName } from './paths.js';
import type { ProgramSpec } from './subject/program-spec.js';
import type { Argument } from './words/argument.js';
import type {
  DirectoryChange,
  KnownOutput,
  ListedNames,
  ListedPlaces,
  PlainSubstitution,
  ProgramKnowledge,
  ProgramTrait,
  VariableRule,
} from './words/program-knowledge.js';

/** Spec of a program that only shows information. */
const READ_ONLY: ProgramSpec = { class: 'read', operands: 'text' };

/** Tables of a family, by program name. */
type TableKey =
  | 'programs'
  | 'wrappers'
  | 'showing'
  | 'typing'
  | 'equivalents'
  | 'outputs'
  | 'lists'
  | 'finds'
  | 'directories';
type Entry<K extends TableKey> = NonNullable<ProgramFamily[K]>[string];

/** Everything that is known about programs, joined from families. */
export class ProgramCatalog implements ProgramKnowledge {
  readonly #specs: ReadonlyMap<string, ProgramSpec>;
  readonly #wrappers: ReadonlyMap<string, WrapperSpec>;
  readonly #showing: ReadonlyMap<string, RegExp>;
  readonly #typing: ReadonlyMap<string, TypingProgram>;
  readonly #equivalents: ReadonlyMap<string, string>;
  readonly #outputs: ReadonlyMap<string, KnownOutput>;
  readonly #lists: ReadonlyMap<string, ListedNames>;
  readonly #finds: ReadonlyMap<string, ListedPlaces>;
  readonly #directories: ReadonlyMap<string, DirectoryChange>;
  readonly #substitutions: readonly PlainSubstitution[];
  readonly #traits: ReadonlyMap<ProgramTrait, ReadonlySet<string>>;
  readonly #variables: readonly VariableRule[];
  readonly #commandVariables: readonly RegExp[];
  readonly #runnable: readonly RegExp[];
  readonly #versioned: RegExp;
  /** Programs with subcommands or options that run commands. */
  readonly #withSubcommands: ReadonlySet<string>;

  /** Files of programs that are as sensitive as those of the machine. */
  readonly places: ProgramPlaces;

  constructor(families: readonly ProgramFamily[]) {
    this.#specs = join(families, 'programs');
    this.#wrappers = join(families, 'wrappers');
    this.#showing = join(families, 'showing');
    this.#typing = join(families, 'typing');
    this.#equivalents = join(families, 'equivalents');
    this.#outputs = join(families, 'outputs');
    this.#lists = join(families, 'lists');
    this.#finds = join(families, 'finds');
    this.#directories = join(families, 'directories');
    this.#substitutions = families.flatMap(({ substitutions = [] }) => substitutions);
    this.#variables = families.flatMap(({ variables = [] }) => variables);
    this.#commandVariables = families.flatMap(({ commandVariables }) => commandVariables ?? []);
    this.places = {
      startup: compilePatterns(families.flatMap(({ startupPaths = [] }) => startupPaths)),
      harmless: compilePatterns(families.flatMap(({ harmlessPaths = [] }) => harmlessPaths)),
    };
    this.#traits = joinTraits(families);
    this.#runnable = families.flatMap(({ runnable }) => runnable ?? []);
    this.#versioned = new RegExp(`^(${[...(this.#traits.get('versioned') ?? [])].join('|')})-?[\\d.]+$`);
    this.#withSubcommands = new Set(
      [...this.#wrappers.keys()].flatMap((label) => (label.includes(' ') ? label.split(' ', 1) : [])),
    );
  }

  /** Spec of a program; undefined when it is in no table. */
  specOf(name: string): ProgramSpec | undefined {
    return this.#specs.get(name);
  }

  /** Spec of a program whose arguments only show information; undefined when that is not certain. */
  showingSpecOf(name: string, args: readonly Argument[]): ProgramSpec | undefined {
    const pattern = this.#showing.get(name);
    if (!pattern || !args.every(isPlain)) return undefined;
    return pattern.test(args.map(({ value }) => value).join(' ')) ? READ_ONLY : undefined;
  }

  /** Spec of a wrapper: a name, or a name and its subcommand or option, separated by a blank. */
  wrapperOf(label: string): WrapperSpec | undefined {
    return this.#wrappers.get(label);
  }

  /** Whether subcommands or options of a program run commands. */
  runsBySubcommand(name: string): boolean {
    return this.#withSubcommands.has(name);
  }

  /** Program that a subcommand is equivalent to. The label is the name and the subcommand, separated by a blank. */
  equivalentOf(label: string): string | undefined {
    return this.#equivalents.get(label);
  }

  /** Whether any table contains a program. */
  isKnown(name: string): boolean {
    return this.#specs.has(name) || this.#wrappers.has(name);
  }

  plainName(name: string): string {
    // zsh: `=rm` expands to the path of rm.
    const base = baseName(name.startsWith('=') ? name.slice(1) : name);
    return this.#versioned.exec(base)?.[1] ?? base;
  }

  has(name: string, trait: ProgramTrait): boolean {
    return this.#traits.get(trait)?.has(name) === true;
  }

  isRunnable(word: string): boolean {
    return this.has(this.plainName(word), 'runnable') || this.#runnable.some((pattern) => pattern.test(baseName(word)));
  }

  typingOf(name: string): TypingProgram | undefined {
    return this.#typing.get(name);
  }

  outputOf(name: string): KnownOutput | undefined {
    return this.#outputs.get(name);
  }

  listedBy(name: string): ListedNames | undefined {
    return this.#lists.get(name);
  }

  listedBelow(name: string): ListedPlaces | undefined {
    return this.#finds.get(name);
  }

  directoryChangeOf(name: string): DirectoryChange | undefined {
    return this.#directories.get(name);
  }

  printedBy(substitution: string): string | undefined {
    return this.#substitutions.find(([text]) => text.test(substitution))?.[1];
  }

  variableRuleOf(name: string): VariableRule | undefined {
    return this.#variables.find(({ names }) => names.test(name));
  }

  isCommandVariable(name: string): boolean {
    return this.#commandVariables.some((names) => names.test(name));
  }
}

const join = <K extends TableKey>(families: readonly ProgramFamily[], key: K): ReadonlyMap<string, Entry<K>> =>
  new Map(families.flatMap((family) => Object.entries<Entry<K>>((family[key] ?? {}) as Record<string, Entry<K>>)));

function joinTraits(families: readonly ProgramFamily[]): ReadonlyMap<ProgramTrait, ReadonlySet<string>> {
  const joined = new Map<ProgramTrait, Set<string>>();
  for (const { traits = {} } of families) {
    for (const [trait, names] of Object.entries(traits) as [ProgramTrait, string][]) {
      const known = joined.get(trait) ?? new Set<string>();
      for (const name of names.split(' ')) known.add(name);
      joined.set(trait, known);
    }
  }
  return joined;
}

/** Known, a single word, and never an option. */
const isPlain = ({ value, isGlob }: Argument): boolean =>
  value !== undefined && value !== '' && !/\s/.test(value) && !(isGlob && /^[*?[+@!]/.test(value));
