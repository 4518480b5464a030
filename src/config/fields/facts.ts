import { z } from 'zod';

/** When a value that a reload has changed takes effect: at once, for sessions opened afterwards, or at the next start. */
export type ReloadEffect = 'now' | 'new_sessions' | 'restart';

/** Place of a path without a value: a name in a directory. */
export interface PathDefault {
  /**
   * `start_directory`: the daemon's current directory. `state_home`: XDG_STATE_HOME or `~/.local/state`.
   * `state_directory`: the value of `adapter.state_directory`.
   */
  readonly in: 'start_directory' | 'state_home' | 'state_directory';
  readonly name: string;
}

/** Documentation and behaviour of a key. */
export interface Facts {
  /** Meaning of the key, in sentences. Markdown. */
  readonly text: string;
  /** Unit in the file; undefined for values without one. */
  readonly unit?: string;
  /** The default, for people. Markdown. */
  readonly fallback: string;
  /**
   * Effect of a reload.
   * @default 'now'
   */
  readonly reload?: ReloadEffect | undefined;
  /** Environment variable that provides a missing value; named by the tools of the service. */
  readonly variable?: string;
  /** Marks a path, or a list of paths, which becomes absolute; `if` restricts that to some texts. */
  readonly location?: { readonly default?: PathDefault; readonly if?: (text: string) => boolean };
  /** Whether the value, or each entry of it, is masked where settings are shown. */
  readonly isSecret?: boolean;
}

/** A key with its facts. Its value is the same in the file and in the code. */
export type Described<S extends z.ZodType> = S & { readonly facts: Facts };

/** A key whose value in the code differs from the one in the file. `Suffix` is the unit in its name in the code. */
export type Converted<S extends z.ZodType, Value, Suffix extends string = ''> = Described<S> & {
  readonly code: { readonly suffix: Suffix; readonly convert: (value: never) => Value };
};

/** Adds facts to a schema. */
export const described = <S extends z.ZodType>(schema: S, facts: Facts): Described<S> =>
  Object.assign(schema, { facts });

/**
 * Adds facts to a schema, and a conversion to the value in the code.
 * @param convert is not called without a value
 */
export const converted = <S extends z.ZodType, Value, const Suffix extends string = ''>(
  schema: S,
  facts: Facts,
  convert: (value: NonNullable<z.output<S>>) => Value,
  suffix = '' as Suffix,
): Converted<S, undefined extends z.output<S> ? Value | undefined : Value, Suffix> =>
  Object.assign(schema, { facts, code: { suffix, convert } });

/** A group of keys that take effect at the next start, all together. Every key has a default. */
export const restarting = <Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  Object.assign(z.strictObject(shape).prefault({} as never), { reload: 'restart' as const });

/** Returns the facts of a key; undefined for a group. */
export const factsOf = (schema: z.core.$ZodType): Facts | undefined => (schema as Partial<Described<z.ZodType>>).facts;

/** Returns the conversion of a key; undefined for a group, and for a key that needs none. */
export const conversionOf = (schema: z.core.$ZodType) =>
  (schema as Partial<Converted<z.ZodType, unknown, string>>).code;

/** Returns the effect of a reload that a key or a group declares itself. */
export const reloadOf = (schema: z.core.$ZodType): ReloadEffect | undefined =>
  (schema as { readonly reload?: ReloadEffect | undefined }).reload ?? factsOf(schema)?.reload;

/** Returns the schema below defaults, options and transforms. */
export function innerOf(schema: z.core.$ZodType): z.core.$ZodType {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === 'pipe') return innerOf(def.in);
  const isWrapped = def.type === 'optional' || def.type === 'default' || def.type === 'prefault';
  return isWrapped ? innerOf(def.innerType) : schema;
}

/** Returns the keys of a group with their schemas; undefined for a key. */
export function fieldsOf(schema: z.core.$ZodType): readonly (readonly [string, z.core.$ZodType])[] | undefined {
  const { def } = (innerOf(schema) as z.core.$ZodTypes)._zod;
  return def.type === 'object' ? Object.entries<z.core.$ZodType>(def.shape) : undefined;
}
