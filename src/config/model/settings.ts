import type { z } from 'zod';
import type { Facts, ReloadEffect } from '../fields.js';
import { isMapping } from '../../core/json.js';
import { configurationSchema } from './schema.js';

/** A key of the configuration that holds a value, or a group of keys. */
export interface Setting extends Facts {
  /** In the file, such as `['adapter', 'prewarm', 'sessions']`. Paths of the keys of an entry start at the entry. */
  readonly path: readonly string[];
  /** Path of the value in a `Configuration`. */
  readonly codePath: readonly string[];
  /** `text` accepts text only: a text that looks like a number is still text. `list` accepts lists among others. */
  readonly kind: 'group' | 'entry' | 'text' | 'list' | 'mapping' | 'other';
  /** Keys of a group or an entry; none for others. */
  readonly keys: readonly Setting[];
  /** What each entry of a list or a mapping is, if it has keys of its own. */
  readonly entry: Setting | undefined;
  /** That of the group, unless the key declares its own. */
  readonly reload: ReloadEffect;
  /** Converts a value of the file to the one in the code; undefined if they are the same. */
  readonly convert: ((value: never) => unknown) | undefined;
}

/** The configuration as one group, in the order of the schema. All that is known of its keys is read from here. */
export const configurationSettings = (): Setting => settingOf(configurationSchema);

/** Lists the keys that hold a value, of a group or an entry. */
export const valuesIn = ({ keys }: Setting): readonly Setting[] =>
  keys.flatMap((setting) => (setting.kind === 'group' ? valuesIn(setting) : [setting]));

/** Lists all keys of the configuration that hold a value. */
export const listSettings = (): readonly Setting[] => valuesIn(configurationSettings());

/** Lists the keys that take effect at the next start; a group that does as a whole counts as one key. */
export const listRestartKeys = (): readonly Setting[] => restartingIn(configurationSettings());

const restartingIn = ({ keys }: Setting): readonly Setting[] =>
  keys.flatMap((setting) => (setting.reload === 'restart' ? [setting] : restartingIn(setting)));

export const variableName = (path: readonly string[]): string => `SHELL_ADAPTER_${path.join('_').toUpperCase()}`;

/** The key with this name in a group, or the entry of a list or mapping. */
export const inside = (setting: Setting, step: PropertyKey): Setting | undefined =>
  setting.entry ?? setting.keys.find(({ path }) => path.at(-1) === step);

/** The setting at a path below another one; undefined when there is none. */
export const settingAt = (setting: Setting, path: readonly PropertyKey[]): Setting | undefined =>
  path.reduce<Setting | undefined>((outer, step) => outer && inside(outer, step), setting);

/** What the schema expects at a path below a setting. Entries without keys of their own are texts. */
export function kindAt(setting: Setting, [step, ...rest]: readonly PropertyKey[]): Setting['kind'] {
  if (step === undefined) return setting.kind;
  const inner = inside(setting, step);
  if (inner) return kindAt(inner, rest);
  return setting.kind === 'group' || setting.kind === 'entry' ? 'other' : 'text';
}

/** A schema with what `fields.ts` adds to it. */
type Annotated = z.core.$ZodType & {
  readonly facts?: Facts;
  readonly code?: { readonly suffix: string; readonly convert: (value: never) => unknown };
  /** Of a group. */
  readonly reload?: ReloadEffect;
};

/** What a setting has of those around it. */
type Outer = Readonly<Record<'path' | 'codePath', readonly string[]>> & { readonly reload: ReloadEffect };

const OUTERMOST: Outer = { path: [], codePath: [], reload: 'now' };

/** Reads from a schema all that is known of it and of its keys: the only walk over schemas. */
function settingOf(schema: Annotated, { path, codePath, reload: inherited } = OUTERMOST): Setting {
  const { facts = { text: '', fallback: '' }, code } = schema;
  const reload = schema.reload ?? facts.reload ?? inherited;
  const inner = innerOf(schema);
  const { def } = inner._zod;
  const fields = def.type === 'object' ? Object.entries<Annotated>(def.shape) : [];
  const entry = entryOf(inner);
  return {
    ...facts,
    path,
    codePath,
    kind: kindOf(inner),
    keys: fields.map(([key, field]) => {
      const inCode = codeName(key, field.code?.suffix ?? '');
      return settingOf(field, { path: [...path, key], codePath: [...codePath, inCode], reload });
    }),
    entry:
      entry && kindOf(innerOf(entry)) === 'group'
        ? { ...settingOf(entry, { ...OUTERMOST, reload }), kind: 'entry' }
        : undefined,
    reload,
    convert: code?.convert,
  };
}

/** The schema below defaults, options and transforms. */
function innerOf(schema: z.core.$ZodType): z.core.$ZodTypes {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === 'pipe') return innerOf(def.in);
  const isWrapped = def.type === 'optional' || def.type === 'default' || def.type === 'prefault';
  return isWrapped ? innerOf(def.innerType) : (schema as z.core.$ZodTypes);
}

function kindOf({ _zod: { def } }: z.core.$ZodTypes): Setting['kind'] {
  switch (def.type) {
    case 'object':
      return 'group';
    case 'string':
    case 'enum':
    case 'literal':
      return 'text';
    case 'array':
      return 'list';
    case 'record':
      return 'mapping';
    case 'union': {
      const kinds = def.options.map((option) => kindOf(innerOf(option)));
      if (kinds.includes('list')) return 'list';
      return kinds.every((kind) => kind === 'text') ? 'text' : 'other';
    }
    default:
      return 'other';
  }
}

function entryOf({ _zod: { def } }: z.core.$ZodTypes): z.core.$ZodType | undefined {
  if (def.type === 'array') return def.element;
  return def.type === 'record' ? def.valueType : undefined;
}

/** Units in keys of the file that the code replaces by its own, `Bytes`. */
const SIZE_WORDS: ReadonlySet<string> = new Set<SizeWord>(['mb', 'kb', 'bytes']);
type SizeWord = 'mb' | 'kb' | 'bytes';

type WithoutSize<Key extends string> = Key extends `${infer Head}_${infer Tail}`
  ? Head extends SizeWord
    ? WithoutSize<Tail>
    : Tail extends SizeWord
      ? Head
      : `${Head}_${WithoutSize<Tail>}`
  : Key;

type CamelCase<Key extends string> = Key extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Key;

type CodeName<Key extends string, Suffix extends string> = Suffix extends 'Bytes'
  ? `${CamelCase<WithoutSize<Key>>}Bytes`
  : `${CamelCase<Key>}${Suffix}`;

/**
 * The name of a key in the code: camelCase, with the unit of the code at its end where that unit is not the one of the
 * file. `kill_grace` is `killGraceMs`, `max_file_mb` is `maxFileBytes`.
 */
function codeName(key: string, suffix: string): string {
  const words = key.split('_').filter((word) => suffix !== 'Bytes' || !SIZE_WORDS.has(word));
  const camelCase = words.map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)));
  return camelCase.join('') + suffix;
}

type Conversion<S> = S extends { readonly code: infer C } ? C : { readonly suffix: '' };
type SuffixOf<S> = Conversion<S> extends { readonly suffix: infer Suffix extends string } ? Suffix : '';

type Inner<S> =
  S extends z.ZodPrefault<infer I>
    ? I
    : S extends z.ZodDefault<infer I>
      ? I
      : S extends z.ZodOptional<infer I>
        ? I
        : S extends z.ZodPipe<infer I>
          ? I
          : never;

/** The value of a schema in the code; `V` is its validated value in the file. */
export type CodeValue<S, V = z.output<S>> = S extends { readonly code: { convert: (value: never) => infer Value } }
  ? Value
  : S extends z.ZodObject<infer Shape>
    ? {
        readonly [Key in keyof Shape & keyof V & string as CodeName<Key, SuffixOf<Shape[Key]>>]: CodeValue<
          Shape[Key],
          V[Key]
        >;
      }
    : S extends z.ZodRecord<z.core.$ZodRecordKey, infer Entry>
      ? Readonly<Record<string, CodeValue<Entry>>>
      : S extends z.ZodArray<infer Entry extends z.ZodObject>
        ? readonly CodeValue<Entry>[]
        : [Inner<S>] extends [never]
          ? V
          : CodeValue<Inner<S>, V>;

/** Converts a validated value to the names and units of the code. */
export const toCode = <S extends z.ZodType>(schema: S, value: z.output<S>): CodeValue<S> =>
  convert(settingOf(schema), value) as CodeValue<S>;

function convert(setting: Setting, value: unknown): unknown {
  if (value === undefined) return undefined;
  if (setting.convert) return setting.convert(value as never);
  const { keys, entry } = setting;
  if (entry && Array.isArray(value)) return value.map((inner) => convert(entry, inner));
  if (!isMapping(value)) return value;
  if (keys.length > 0) {
    return Object.fromEntries(
      keys.map((key) => [key.codePath.at(-1), convert(key, value[key.path.at(-1) ?? ''])] as const),
    );
  }
  if (!entry) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, convert(entry, inner)]));
}
