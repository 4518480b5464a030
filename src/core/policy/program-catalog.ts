import type { PathPatterns, ProgramPlaces } from './path-kinds.js';
import { compilePatterns } from './path-patterns.js';
import { baseName } from './paths.js';
import { type EntryRules, type ProgramEntries, type ProgramEntry, readEntries } from './program-entries.js';
import type { ProgramSpec } from './subject/program-spec.js';
import { ROLES } from './subject/roles.js';
import type { Argument } from './words/argument.js';
import type { PlainSubstitution, ProgramTrait, VariableRule } from './words/program-knowledge.js';

/** All that the policy knows about a group of related programs. No program is in two families. */
export interface ProgramFamily {
  readonly name: string;
  /** An entry for each program, in the notation of `program-entries.ts`. */
  readonly entries: string;
  /** What entries cannot say. */
  readonly rules?: EntryRules;
  /** Further names with the trait `runnable`. */
  readonly runnable?: RegExp;
  /** Variables that change what its programs do. Rules of the shell itself come before them. */
  readonly variables?: readonly VariableRule[];
  /** Variables whose value its programs run as a command. */
  readonly commandVariables?: RegExp;
  /** Files that determine what its programs run later, or trust, separated by blanks. */
  readonly startupPaths?: string;
  /** Files among them that neither run nor are trusted. */
  readonly harmlessPaths?: PathPatterns;
  /** Substitutions that always print one plain word. */
  readonly substitutions?: readonly PlainSubstitution[];
}

const READ_ONLY: ProgramSpec = {
  class: 'read',
  knowsAllOptions: true,
  operands: { first: [], others: ROLES.text, last: [] },
};

interface Known {
  readonly entries: ReadonlyMap<string, ProgramEntry>;
  readonly traits: ReadonlyMap<ProgramTrait, ReadonlySet<string>>;
  readonly versioned: RegExp;
  /** Programs with subcommands or options that run commands. */
  readonly withSubcommands: ReadonlySet<string>;
  readonly places: ProgramPlaces;
  readonly runnable: readonly RegExp[];
  readonly substitutions: readonly PlainSubstitution[];
  readonly variables: readonly VariableRule[];
  readonly commandVariables: readonly RegExp[];
}

function join(families: readonly ProgramFamily[]): Known {
  const entries = new Map(families.flatMap((family) => [...entriesOf(family).entries]));
  const traits = new Map<ProgramTrait, Set<string>>();
  for (const [name, { traits: own }] of entries)
    for (const trait of own) traits.set(trait, (traits.get(trait) ?? new Set()).add(name));
  return {
    entries,
    traits,
    versioned: new RegExp(`^(${[...(traits.get('versioned') ?? [])].join('|')})-?[\\d.]+$`),
    withSubcommands: new Set(
      [...entries].flatMap(([label, { wrapper }]) => (wrapper && label.includes(' ') ? label.split(' ', 1) : [])),
    ),
    places: {
      startup: compilePatterns(families.flatMap(({ startupPaths = '' }) => startupPaths.match(/\S+/g) ?? [])),
      harmless: compilePatterns(families.flatMap(({ harmlessPaths = [] }) => harmlessPaths)),
    },
    runnable: families.flatMap(({ runnable = [] }) => runnable),
    substitutions: families.flatMap(({ substitutions = [] }) => substitutions),
    variables: families.flatMap(({ variables = [] }) => variables),
    commandVariables: families.flatMap(({ commandVariables = [] }) => commandVariables),
  };
}

/**
 * Everything that is known about programs, joined from families when it is first asked for: that takes some 30 ms. Names are
 * plain: see `plainName`.
 */
export class ProgramCatalog {
  readonly #families: readonly ProgramFamily[];
  #joined: Known | undefined;

  constructor(families: readonly ProgramFamily[]) {
    this.#families = families;
  }

  get #known(): Known {
    return (this.#joined ??= join(this.#families));
  }

  /** Files of programs that are as sensitive as those of the machine. */
  get places(): ProgramPlaces {
    return this.#known.places;
  }

  /** What is known of a program, or of a program and its subcommand or option, separated by a blank. */
  entryOf(label: string): ProgramEntry | undefined {
    return this.#known.entries.get(label);
  }

  /** How a program is judged with these arguments: as one that only shows something, where that is certain. */
  specFor(name: string, args: readonly Argument[]): ProgramSpec | undefined {
    const { showing, spec } = this.entryOf(name) ?? {};
    const isShown = showing && args.every(isPlain) && showing.test(args.map(({ value }) => value).join(' '));
    return isShown === true ? READ_ONLY : spec;
  }

  /** Whether subcommands or options of a program run commands. */
  runsBySubcommand(name: string): boolean {
    return this.#known.withSubcommands.has(name);
  }

  isKnown(name: string): boolean {
    const { spec, wrapper } = this.entryOf(name) ?? {};
    return (spec ?? wrapper) !== undefined;
  }

  /** Name of a program as used in the entries: without its directory and its version. */
  plainName(name: string): string {
    // zsh: `=rm` expands to the path of rm.
    const base = baseName(name.startsWith('=') ? name.slice(1) : name);
    return this.#known.versioned.exec(base)?.[1] ?? base;
  }

  has(name: string, trait: ProgramTrait): boolean {
    return this.#known.traits.get(trait)?.has(name) === true;
  }

  /** Whether a word among arguments is more likely to be a program than another kind of name. */
  isRunnable(word: string): boolean {
    if (this.has(this.plainName(word), 'runnable')) return true;
    return this.#known.runnable.some((names) => names.test(baseName(word)));
  }

  /** Sample of the word that a substitution prints; undefined when it is unknown. */
  printedBy(substitution: string): string | undefined {
    return this.#known.substitutions.find(([text]) => text.test(substitution))?.[1];
  }

  /** Effect of setting a variable that a program follows; undefined when no family has a rule for it. */
  variableRuleOf(name: string): VariableRule | undefined {
    return this.#known.variables.find(({ names }) => names.test(name));
  }

  /** Whether a program runs the value of a variable as a command, as make does with `CC`. */
  isCommandVariable(name: string): boolean {
    return this.#known.commandVariables.some((names) => names.test(name));
  }
}

/** The entries of a family. Throws an error that names the family, if one cannot be read. */
export function entriesOf({ name, entries, rules }: ProgramFamily): ProgramEntries {
  try {
    return readEntries(entries, rules);
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`, { cause: error });
  }
}

/** Known, a single word, and never an option. */
const isPlain = ({ value, isGlob }: Argument): boolean =>
  value !== undefined && value !== '' && !/\s/.test(value) && !(isGlob && /^[*?[+@!]/.test(value));
