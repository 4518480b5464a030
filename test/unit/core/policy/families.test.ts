import { describe, expect, it } from 'vitest';

import { inspect } from '../../../../src/core/policy/analysis/inspect.js';
import { decide, PRESETS } from '../../../../src/core/policy/policy.js';
import type { ProgramFamily } from '../../../../src/core/policy/program-family.js';
import { factsOfFreshShell } from '../../../../src/core/policy/model.js';
import { FAMILIES } from '../../../../src/core/policy/programs/programs.js';
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
/** A name, perhaps with a subcommand or an option. */
const LABEL = /^[^\s/]+(?: [^\s/]+)?$/;
const OPTION = /^--?[A-Za-z0-9]/;

const examplesOf = ({ examples }: ProgramFamily) => Object.values(examples).flat();

/** The names of a table, those with the same entry together. */
function groupsOf(table: Readonly<Record<string, unknown>> = {}): readonly (readonly string[])[] {
  const groups = new Map<unknown, string[]>();
  for (const [name, entry] of Object.entries(table)) groups.set(entry, [...(groups.get(entry) ?? []), name]);
  return [...groups.values()];
}

/** Names of the programs in an example, and names with each argument. */
const labelsIn = (example: string): ReadonlySet<string | undefined> =>
  new Set(commandsOf(example).flatMap(({ program, args }) => [program, ...args.map((arg) => `${program} ${arg}`)]));

/** The groups of which no name is in any of the examples. */
const withoutExample = (table: Readonly<Record<string, unknown>> | undefined, examples: readonly string[]) => {
  const labels = new Set(examples.flatMap((example) => [...labelsIn(example)]));
  return groupsOf(table).filter((names) => !names.some((name) => labels.has(name)));
};

/** Names of options that do not look like options; `-?` of some programs and attached forms are none of them. */
const oddOptions = (options: Readonly<Record<string, OptionSpec>> = {}): readonly string[] =>
  Object.keys(options).filter((name) => !OPTION.test(name));

const faultsOf = (label: string, spec: ProgramSpec): readonly string[] => [
  ...oddOptions(spec.options).map((name) => `${label}: ${name} is no option`),
  ...(spec.reason !== undefined && spec.class === 'read' ? [`${label}: a reason for reading is never shown`] : []),
  ...Object.entries(spec.subcommands ?? {}).flatMap(([name, inner]) => faultsOf(`${label} ${name}`, inner)),
];

describe.each(FAMILIES.map((family) => [family.name, family] as const))('the family %s', (_name, family) => {
  it('has programs that are named without blanks and paths, and options that begin with a dash', () => {
    const tables = [family.programs, family.typing, family.showing, family.outputs, family.lists, family.directories];
    for (const name of tables.flatMap((table) => Object.keys(table ?? {}))) expect(name).toMatch(NAME);
    for (const label of Object.keys({ ...family.wrappers, ...family.equivalents })) expect(label).toMatch(LABEL);
    expect(Object.entries(family.programs ?? {}).flatMap(([name, spec]) => faultsOf(name, spec))).toEqual([]);
    expect(Object.values(family.wrappers ?? {}).flatMap(({ options }) => oddOptions(options))).toEqual([]);
  });

  it('has patterns that match whole lists of arguments', () => {
    for (const pattern of Object.values(family.showing ?? {})) {
      expect(/^\^.*\$\)?$/.test(pattern.source), pattern.source).toBe(true);
      expect(pattern.flags).not.toMatch(/[gym]/);
    }
  });

  it('has traits of single names, each once', () => {
    for (const [trait, names] of Object.entries(family.traits ?? {})) {
      const list = names.split(' ');
      expect(list, trait).not.toContain('');
      expect(new Set(list).size, trait).toBe(list.length);
    }
  });

  it('has examples with the class that they say', () => {
    const told = Object.entries(family.examples).flatMap(([name, texts]) => texts.map((text) => `${text}: ${name}`));
    expect(examplesOf(family).map((text) => `${text}: ${verdictOn(text).class}`)).toEqual(told);
  });

  it('has an example that is allowed and one that is not', () => {
    const actions = examplesOf(family).map((text) => verdictOn(text).action);
    expect(actions).toContain('allow');
    expect(actions.some((action) => action !== 'allow')).toBe(true);
  });

  it('has an example for each spec and each wrapper', () => {
    expect(withoutExample(family.programs, examplesOf(family))).toEqual([]);
    expect(withoutExample(family.wrappers, examplesOf(family))).toEqual([]);
  });

  it('has a harmless example for each pattern that only shows', () => {
    const shown = (family.examples.read ?? []).map((text) => text.split(' '));
    const isShown = (name: string, pattern: RegExp) =>
      shown.some(([program, ...args]) => program === name && pattern.test(args.join(' ')));
    const missing = Object.entries(family.showing ?? {}).filter(([name, pattern]) => !isShown(name, pattern));
    expect(missing).toEqual([]);
  });

  it('has an example that takes typed input for each program that does', () => {
    const typed = examplesOf(family).flatMap((text) => commandsOf(text).filter((command) => command.typed));
    const names = new Set(typed.map(({ program }) => program));
    expect(groupsOf(family.typing).filter((group) => !group.some((name) => names.has(name)))).toEqual([]);
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
      const labels = [family.programs, family.wrappers, family.showing, family.typing].flatMap((table) =>
        Object.keys(table ?? {}),
      );
      for (const label of labels) {
        const [program = ''] = label.split(' ', 1);
        owners.set(program, (owners.get(program) ?? new Set()).add(family.name));
      }
    }
    expect([...owners].filter(([, names]) => names.size > 1)).toEqual([]);
  });
});
