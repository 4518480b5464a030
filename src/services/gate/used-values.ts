import type { PolicyRequest } from '../../core/policy/analysis/inspection.js';
import { decide, type Policy, type PolicyVerdict } from '../../core/policy/decision/policy.js';
import type { PolicyFacts } from '../../core/policy/model/facts.js';
import { readShownVariables, type ShownVariable } from '../../core/policy/words/saved-state.js';
import { findUsedVariables } from '../../core/policy/words/variables/used-variables.js';
import type { SessionRecord } from '../registry/session-registry.js';

/** The variables that a command reads from its session, with their values at one moment. */
export interface UsedValues {
  readonly names: readonly string[];
  /** Those that are set; undefined when the shell cannot show them. */
  readonly shown: ReadonlyMap<string, ShownVariable> | undefined;
  /** It may read others as well. */
  readonly hasOthers: boolean;
  /** Files that the command accesses with these values. */
  readonly paths: PolicyVerdict['paths'];
  readonly scripts: PolicyVerdict['scripts'];
}

/** For a command whose meaning depends on no variable. */
const NONE: UsedValues = { names: [], shown: new Map(), hasOthers: false, paths: [], scripts: [] };

/** Asks the shell of a session for the variables that a command reads, and computes where the command leads with them. */
export async function lookAtValues(
  policy: Policy,
  request: PolicyRequest,
  facts: PolicyFacts,
  session: SessionRecord | undefined,
): Promise<UsedValues> {
  if (!session || request.args) return NONE;
  const { names: read, hasOthers } = findUsedVariables(request.command, facts);
  const names = read.filter((name) => request.env?.[name] === undefined);
  if (names.length === 0) return { ...NONE, hasOthers };
  const shown = await readValues(session, names);
  const variables = new Map(
    [...(shown ?? [])].flatMap(([name, { value }]) => (value === undefined ? [] : [[name, value]])),
  );
  const { paths, scripts } = decide(policy, request, { ...facts, variables });
  return { names, shown, hasOthers, paths, scripts };
}

/** The variables of an idle shell that are set; undefined when the shell cannot show them. */
export async function readValues({ session }: SessionRecord, names: readonly string[]): Promise<UsedValues['shown']> {
  const { shell } = session.shell.installed;
  const state = shell.showsVariables ? await session.readState(names) : undefined;
  return state === undefined ? undefined : readShownVariables(state);
}

/** Longest value in a message, in characters. */
const MAX_VALUE = 60;

/** Describes a variable with another value than before; undefined when there is none. */
export function findChangedValue(names: readonly string[], before: Shown, now: Shown): string | undefined {
  const name = names.find((each) => before.get(each)?.text !== now.get(each)?.text);
  return name === undefined
    ? undefined
    : `$${name} was ${describe(before.get(name))} and is ${describe(now.get(name))} now`;
}

type Shown = NonNullable<UsedValues['shown']>;

function describe(variable: ShownVariable | undefined): string {
  if (!variable) return 'not set';
  const text = variable.value ?? variable.text;
  return `'${text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text}'`;
}
