import { describe, expect, it } from 'vitest';

import { inspect } from '../../../../src/core/policy/analysis/inspect.js';
import { decide, PRESETS } from '../../../../src/core/policy/policy.js';
import { entriesOf } from '../../../../src/core/policy/program-catalog.js';
import { PROGRAM_TRAITS } from '../../../../src/core/policy/words/program-knowledge.js';
import { factsOfFreshShell } from '../../../../src/core/policy/model.js';
import { FAMILIES } from '../../../../src/core/policy/programs/programs.js';
import type { ProgramEntries } from '../../../../src/core/policy/program-entries.js';
import type { OptionSpec, ProgramSpec } from '../../../../src/core/policy/subject/program-spec.js';

/** A fresh shell on a terminal. */
const FACTS = factsOfFreshShell('/workspace', { home: '/home/user', typing: { input: true, screen: true } });
const POLICY = { actions: PRESETS.balanced, rules: [] };

/** Computes a value once for each text: several tests ask about the same examples. */
function once<Value>(compute: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, Value>();
  return (text) => {
    if (!known.has(text)) known.set(text, compute(text));
    return known.get(text)!;
  };
}

const verdictOn = once((command) => decide(POLICY, { command }, FACTS));
const commandsOf = once((command) => inspect({ command }, FACTS).commands);

/** A name: no blanks, no path. */
const NAME = /^(?:[^\s/]+)$/;
/** A name, perhaps with subcommands or an option. */
const LABEL = /^[^\s/]+(?: [^\s/]+)*$/;
const OPTION = /^--?[A-Za-z0-9]/;

/** Names of options that do not look like options; `-?` of some programs and attached forms are none of them. */
const oddOptions = (options: Readonly<Record<string, OptionSpec>> = {}): readonly string[] =>
  Object.keys(options).filter((name) => !OPTION.test(name));

const faultsOf = (label: string, spec: ProgramSpec): readonly string[] => [
  ...oddOptions(spec.options).map((name) => `${label}: ${name} is no option`),
  ...(spec.reason !== undefined && spec.class === 'read' ? [`${label}: a reason for reading is never shown`] : []),
  ...Object.entries(spec.subcommands ?? {}).flatMap(([name, inner]) => faultsOf(`${label} ${name}`, inner)),
];

/** Names of the programs in an example, and names with each argument. */
const labelsIn = (example: string): readonly (string | undefined)[] =>
  commandsOf(example).flatMap(({ program, args }) => [program, ...args.map((arg) => `${program} ${arg}`)]);

/** The groups of labels of which none is in any of the examples. */
function withoutExample({ groups, examples }: ProgramEntries): readonly (readonly string[])[] {
  const labels = new Set(examples.flatMap(({ command }) => labelsIn(command)));
  return groups.filter((group) => !group.some((label) => labels.has(label)));
}

describe.each(FAMILIES.map((family) => [family.name, family] as const))('the family %s', (_name, family) => {
  const known = entriesOf(family);
  const { entries, examples } = known;

  it('has programs that are named without blanks and paths, and options that begin with a dash', () => {
    for (const [label, { spec, wrapper, sameAs }] of entries) {
      expect(label).toMatch(wrapper || sameAs !== undefined ? LABEL : NAME);
      expect([...(spec ? faultsOf(label, spec) : []), ...oddOptions(wrapper?.options)]).toEqual([]);
    }
  });

  it('has patterns that match whole lists of arguments', () => {
    for (const pattern of [...entries.values()].flatMap(({ showing }) => showing ?? [])) {
      expect(/^\^.*\$\)?$/.test(pattern.source), pattern.source).toBe(true);
      expect(pattern.flags).not.toMatch(/[gym]/);
    }
  });

  it('has traits that the policy knows, each once', () => {
    for (const [label, { traits }] of entries) {
      expect(new Set(traits).size, label).toBe(traits.length);
      for (const trait of traits) expect(PROGRAM_TRAITS, label).toContain(trait);
    }
  });

  it('has examples with the class that they say', () => {
    const told = examples.map(({ command, class: name }) => `${command}: ${name}`);
    expect(examples.map(({ command }) => `${command}: ${verdictOn(command).class}`)).toEqual(told);
  });

  it('has an example that is allowed and one that is not', () => {
    const actions = examples.map(({ command }) => verdictOn(command).action);
    expect(actions).toContain('allow');
    expect(actions.some((action) => action !== 'allow')).toBe(true);
  });

  it('has an example for each entry that says what a program does', () => {
    const isJudged = (label: string) => entries.get(label)?.spec ?? entries.get(label)?.wrapper;
    expect(withoutExample(known).filter((labels) => labels.some(isJudged))).toEqual([]);
  });

  it('has a harmless example for each pattern that only shows', () => {
    const shown = examples.flatMap(({ command, class: name }) => (name === 'read' ? [command.split(' ')] : []));
    const isShown = (label: string) =>
      shown.some(([program, ...args]) => program === label && entries.get(label)?.showing?.test(args.join(' ')));
    const groups = known.groups.filter((labels) => labels.some((label) => entries.get(label)?.showing));
    expect(groups.filter((labels) => !labels.some(isShown))).toEqual([]);
  });

  it('has an example that takes typed input for each way to do so, where the name alone does not', () => {
    const names = known.groups.flat();
    const typed = [...examples.map(({ command }) => command), ...names.filter((name) => NAME.test(name))]
      .flatMap(commandsOf)
      .flatMap((command) => (command.typed ? [command.program] : []));
    const groups = known.groups.filter((labels) => labels.some((label) => entries.get(label)?.typing));
    expect(groups.filter((labels) => !labels.some((label) => typed.includes(label)))).toEqual([]);
  });
});

describe('the families together', () => {
  it('have names of their own', () => {
    const names = FAMILIES.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it('have no program in common', () => {
    const owners = new Map<string, Set<string>>();
    for (const family of FAMILIES) {
      for (const label of entriesOf(family).entries.keys()) {
        const [program = ''] = label.split(' ', 1);
        owners.set(program, (owners.get(program) ?? new Set()).add(family.name));
      }
    }
    expect([...owners].filter(([, names]) => names.size > 1)).toEqual([]);
  });
});
